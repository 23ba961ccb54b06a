import { useQuery } from "@tanstack/react-query";
import { answer, client, everyPage } from "../client";
import type { components } from "../schema";

export type Operation = components["schemas"]["Operation"];
export type Phase = components["schemas"]["Phase"];

const PAGE = 200;

/** What was ever done to one thing, newest first; without phases. */
export function useOperationsOf(projectId: string, subjectId: string) {
  return useQuery({
    queryKey: ["operations", projectId, subjectId],
    queryFn: () =>
      everyPage((cursor) =>
        answer(
          client.GET("/api/v1/operations", {
            params: {
              query: { project_id: projectId, subject_id: subjectId, limit: PAGE, ...(cursor ? { cursor } : {}) },
            },
          }),
        ),
      ),
  });
}

/** One operation with its phases. The subject's id is in the key, so that what happens to the subject refreshes it. */
export function useOperation(id: string, subjectId: string) {
  return useQuery({
    queryKey: ["operation", id, subjectId],
    queryFn: () => answer(client.GET("/api/v1/operations/{id}", { params: { path: { id } } })),
  });
}
