import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { answer, client, everyPage, keyed } from "../client";
import type { components } from "../schema";
import { refreshMe } from "./session";

type Schemas = components["schemas"];
export type Invitation = Schemas["Invitation"];
export type NewInvitation = Schemas["InviteMember"];

const SENT = "invitations-sent";
const RECEIVED = ["invitations"] as const;

function read(query: { project_id?: string }) {
  return everyPage((page) =>
    answer(
      client.GET("/api/v1/invitations", {
        params: { query: { ...query, ...page } },
      }),
    ),
  );
}

/** Those for who is signed in. */
export function useInvitations() {
  return useQuery({ queryKey: RECEIVED, queryFn: () => read({}), refetchInterval: 30_000 });
}

/** Those of a project, for who leads it. */
export function useSentInvitations(projectId: string, isWanted: boolean) {
  return useQuery({
    queryKey: [SENT, projectId],
    queryFn: () => read({ project_id: projectId }),
    enabled: isWanted,
  });
}

export function useInvite(projectId: string) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (body: NewInvitation) =>
      answer(
        client.POST("/api/v1/projects/{project_id}/members", {
          params: { path: { project_id: projectId }, header: keyed() },
          body,
        }),
      ),
    onSuccess: () => queries.invalidateQueries({ queryKey: [SENT, projectId] }),
  });
}

export function useAcceptInvitation() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (id: string) =>
      answer(client.POST("/api/v1/invitations/{id}/accept", { params: { path: { id }, header: keyed() } })),
    onSuccess: async () => {
      await refreshMe(queries);
      await queries.invalidateQueries({ queryKey: RECEIVED });
      await queries.invalidateQueries({ queryKey: ["reach"] });
    },
  });
}

/** Declines one's own, or takes back one of a project that one leads. */
export function useWithdrawInvitation() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (id: string) =>
      answer(client.DELETE("/api/v1/invitations/{id}", { params: { path: { id }, header: keyed() } })),
    onSettled: () =>
      queries.invalidateQueries({ predicate: ({ queryKey: [noun] }) => noun === SENT || noun === RECEIVED[0] }),
  });
}
