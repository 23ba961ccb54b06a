import { useQuery } from "@tanstack/react-query";
import { answer, client, everyPage } from "../client";
import type { components } from "../schema";

export type Member = components["schemas"]["Member"];

const PAGE = 200;

export function useMembers(projectId: string) {
  return useQuery({
    queryKey: ["members", projectId],
    queryFn: () =>
      everyPage((cursor) =>
        answer(
          client.GET("/api/v1/projects/{project_id}/members", {
            params: { path: { project_id: projectId }, query: { limit: PAGE, ...(cursor ? { cursor } : {}) } },
          }),
        ),
      ),
    staleTime: 60_000,
  });
}

/** Whom an id means, by address; who has left is known by id alone. */
export function usePerson(projectId: string): (userId: string) => string {
  const members = useMembers(projectId).data;
  return (userId) => members?.find(({ user_id }) => user_id === userId)?.email ?? userId;
}
