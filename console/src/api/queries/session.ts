import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { answer, client } from "../client";
import type { components } from "../schema";

export type Me = components["schemas"]["Me"];
export type Credentials = components["schemas"]["Login"];

const ME = ["me"] as const;

/** Who is signed in; a Problem with status 401 when nobody is. */
export function useMe() {
  return useQuery({ queryKey: ME, queryFn: () => answer(client.GET("/api/v1/me")), staleTime: 60_000 });
}

export function useLogin() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (body: Credentials) => answer(client.POST("/api/v1/auth/personal/login", { body })),
    onSuccess: () => queries.resetQueries(),
  });
}

export function useSignUp() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (body: Credentials) => answer(client.POST("/api/v1/auth/personal/signup", { body })),
    onSuccess: () => queries.resetQueries(),
  });
}

/** Nothing that was seen while signed in stays in this page. */
export function useLogout() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: () => answer(client.POST("/api/v1/auth/logout")),
    onSettled: () => {
      sessionStorage.clear();
      queries.clear();
      window.location.assign("/login?left=1");
    },
  });
}
