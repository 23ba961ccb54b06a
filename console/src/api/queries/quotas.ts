import { useQuery } from "@tanstack/react-query";
import { answer, client } from "../client";
import type { components } from "../schema";

type Schemas = components["schemas"];
export type QuotaLine = Schemas["QuotaLine"];

/** What a project may have, has, and may still add. */
export function useProjectQuota(projectId: string) {
  return useQuery({
    queryKey: ["quota", projectId],
    queryFn: () =>
      answer(client.GET("/api/v1/projects/{project_id}/quota", { params: { path: { project_id: projectId } } })),
    refetchOnMount: "always",
  });
}
