import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { answer, client, everyPage, keyed } from "../client";
import type { components } from "../schema";
import { refreshMe } from "./session";

type Schemas = components["schemas"];
export type Invitation = Schemas["Invitation"];
export type NewInvitation = Schemas["InviteMember"];

const SENT = "invitations-sent";

/** Open invitations of a project, for people who lead it. */
export function useSentInvitations(projectId: string, isWanted: boolean) {
  return useQuery({
    queryKey: [SENT, projectId],
    queryFn: () =>
      everyPage((page) =>
        answer(client.GET("/api/v1/invitations", { params: { query: { project_id: projectId, ...page } } })),
      ),
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
    mutationFn: (secret: string) =>
      answer(client.POST("/api/v1/invitations/accept", { params: { header: keyed() }, body: { secret } })),
    onSuccess: async () => {
      await refreshMe(queries);
      await queries.invalidateQueries({ queryKey: ["reach"] });
    },
  });
}

/** Ends the link of an invitation. */
export function useWithdrawInvitation() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (id: string) =>
      answer(client.DELETE("/api/v1/invitations/{id}", { params: { path: { id }, header: keyed() } })),
    onSettled: () => queries.invalidateQueries({ queryKey: [SENT] }),
  });
}
