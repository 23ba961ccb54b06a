import { useMutation, useQueryClient } from "@tanstack/react-query";
import { answer, client, keyed } from "../client";
import type { components } from "../schema";
import { refreshMe } from "./session";

export type NewProject = components["schemas"]["CreateProject"];

export function useCreateProject() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (body: NewProject) => answer(client.POST("/api/v1/projects", { params: { header: keyed() }, body })),
    onSuccess: () => refreshMe(queries),
  });
}
