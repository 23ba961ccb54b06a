import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { answer, client, everyPage, keyed } from "../client";
import type { components } from "../schema";
import { refreshMe } from "./session";

type Schemas = components["schemas"];
export type Member = Schemas["Member"];
export type Role = Schemas["Role"];
export type ReachedProject = Schemas["ReachedProject"];

export function useMembers(projectId: string, isWanted = true) {
  return useQuery({
    queryKey: ["members", projectId],
    queryFn: () =>
      everyPage((page) =>
        answer(
          client.GET("/api/v1/projects/{project_id}/members", {
            params: { path: { project_id: projectId }, query: page },
          }),
        ),
      ),
    staleTime: 60_000,
    enabled: isWanted,
  });
}

/** Whom an id means, by address; who has left is known by id alone. */
export function usePerson(projectId: string): (userId: string) => string {
  const members = useMembers(projectId).data;
  return (userId) => members?.find(({ user_id }) => user_id === userId)?.email ?? userId;
}

/** The machines of the project that a member holds or was granted. */
export function useMember(projectId: string, userId: string) {
  return useQuery({
    queryKey: ["member", projectId, userId],
    queryFn: () =>
      answer(
        client.GET("/api/v1/projects/{project_id}/members/{user_id}", {
          params: { path: { project_id: projectId, user_id: userId } },
        }),
      ),
  });
}

/** All that one can reach oneself: projects, roles, machines. */
export function useReach() {
  return useQuery({ queryKey: ["reach"], queryFn: () => answer(client.GET("/api/v1/me/reach")) });
}

export function useChangeMember(projectId: string) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: ({ userId, role }: { userId: string; role: Role }) =>
      answer(
        client.PUT("/api/v1/projects/{project_id}/members/{user_id}", {
          params: { path: { project_id: projectId, user_id: userId }, header: keyed() },
          body: { role },
        }),
      ),
    onSuccess: () => Promise.all([refreshMe(queries), queries.invalidateQueries({ queryKey: ["members", projectId] })]),
  });
}

/** Also how one leaves: then all that is shown of the project is no longer one's own to see. */
export function useRemoveMember(projectId: string) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (userId: string) =>
      answer(
        client.DELETE("/api/v1/projects/{project_id}/members/{user_id}", {
          params: { path: { project_id: projectId, user_id: userId }, header: keyed() },
        }),
      ),
    onSuccess: () =>
      Promise.all([
        refreshMe(queries),
        queries.invalidateQueries({ queryKey: ["members", projectId] }),
        queries.invalidateQueries({ queryKey: ["reach"] }),
      ]),
  });
}
