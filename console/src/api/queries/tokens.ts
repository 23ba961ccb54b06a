import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { answer, client, everyPage, keyed } from "../client";
import type { components } from "../schema";

type Schemas = components["schemas"];
export type Token = Schemas["Token"];
export type NewToken = Schemas["CreateToken"];
export type Scope = Schemas["Scope"];

const TOKENS = ["tokens"] as const;

export function useTokens() {
  return useQuery({
    queryKey: TOKENS,
    queryFn: () => everyPage((page) => answer(client.GET("/api/v1/auth/tokens", { params: { query: page } }))),
  });
}

/** The only answer that holds the token itself; it is forgotten with the dialog that shows it. */
export function useCreateToken() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (body: NewToken) => answer(client.POST("/api/v1/auth/tokens", { params: { header: keyed() }, body })),
    onSuccess: () => queries.invalidateQueries({ queryKey: TOKENS }),
    gcTime: 0,
  });
}

export function useRevokeToken() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (id: string) =>
      answer(client.DELETE("/api/v1/auth/tokens/{id}", { params: { path: { id }, header: keyed() } })),
    onSettled: () => queries.invalidateQueries({ queryKey: TOKENS }),
  });
}
