import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { answer, client, everyPage, keyed } from "../client";
import type { components } from "../schema";

export type RuntimeBundle = components["schemas"]["RuntimeBundle"];
export type AllocationRuntime = components["schemas"]["AllocationRuntime"];
export type RuntimeChange = components["schemas"]["ApplyRuntimeBundle"];
export type RuntimeState = components["schemas"]["RuntimeState"];

/** For whom the bundles are judged: a machine there is, or a SKU to be launched. */
export type Judged = { allocationId: string } | { sku: string };

/** Supported environments, each with whether it fits, and why not. */
export function useRuntimeBundles(judged: Judged) {
  const by = "sku" in judged ? { sku: judged.sku } : { allocation_id: judged.allocationId };
  return useQuery({
    queryKey: ["runtime-bundles", "sku" in judged ? judged.sku : judged.allocationId],
    queryFn: () =>
      everyPage((page) =>
        answer(
          client.GET("/api/v1/runtime-bundles", {
            params: { query: { ...by, ...page } },
          }),
        ),
      ),
  });
}

const runtimeKey = (allocationId: string) => ["runtime", allocationId] as const;

export function useAllocationRuntime(allocationId: string) {
  return useQuery({
    queryKey: runtimeKey(allocationId),
    queryFn: () =>
      answer(client.GET("/api/v1/allocations/{id}/runtime-bundles", { params: { path: { id: allocationId } } })),
  });
}

export function useChangeRuntime(allocationId: string) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (body: RuntimeChange) =>
      answer(
        client.POST("/api/v1/allocations/{id}/runtime-bundles", {
          params: { path: { id: allocationId }, header: keyed() },
          body,
        }),
      ),
    onSuccess: (seen) => queries.setQueryData(runtimeKey(allocationId), seen),
  });
}

export function useClearRuntime(allocationId: string) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: () =>
      answer(
        client.DELETE("/api/v1/allocations/{id}/runtime-bundles", {
          params: { path: { id: allocationId }, header: keyed() },
        }),
      ),
    onSuccess: (seen) => queries.setQueryData(runtimeKey(allocationId), seen),
  });
}
