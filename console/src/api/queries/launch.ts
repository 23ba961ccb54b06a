import { useMutation, useQueryClient } from "@tanstack/react-query";
import { answer, client, keyed } from "../client";
import type { components } from "../schema";
import { allocationKeys } from "./allocations";

export type LaunchRequest = components["schemas"]["CreateAllocation"];

/** A request under its own name: sent twice, it is done once. */
export interface Submission {
  key: string;
  request: LaunchRequest;
}

export function useLaunch(projectId: string) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: ({ key, request }: Submission) =>
      answer(client.POST("/api/v1/allocations", { body: request, params: { header: keyed(key) } })),
    onSuccess: ({ allocations }) => {
      for (const allocation of allocations) queries.setQueryData(allocationKeys.one(allocation.id), allocation);
      void queries.invalidateQueries({ queryKey: allocationKeys.list(projectId) });
      void queries.invalidateQueries({ queryKey: ["volumes", projectId] });
      void queries.invalidateQueries({ queryKey: ["skus"] });
    },
  });
}
