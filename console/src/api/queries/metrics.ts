import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { answer, client } from "../client";
import type { components } from "../schema";

export type Metrics = components["schemas"]["Metrics"];
export type Series = components["schemas"]["Series"];
export type Metric = components["schemas"]["Metric"];
export type Point = components["schemas"]["Point"];

/** What a machine uses, and used; a sample comes every ten seconds, and is asked for as often. */
export function useMetrics(allocationId: string, range: string) {
  return useQuery({
    queryKey: ["metrics", allocationId, range],
    queryFn: () =>
      answer(
        client.GET("/api/v1/allocations/{id}/metrics", { params: { path: { id: allocationId }, query: { range } } }),
      ),
    placeholderData: keepPreviousData,
  });
}
