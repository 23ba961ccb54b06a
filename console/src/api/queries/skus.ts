import { useQuery } from "@tanstack/react-query";
import { answer, client } from "../client";
import type { components } from "../schema";

export type Sku = components["schemas"]["Sku"];
export type PlacementAsk = components["schemas"]["AskPlacement"];
export type Placement = components["schemas"]["Placement"];
export type Fit = components["schemas"]["Fit"];

const LOOK_AGAIN_MS = 3_000; // others launch too, and their projects' events are not ours to hear

/** What is sold, with how much of it is free now. */
export function useSkus() {
  return useQuery({
    queryKey: ["skus"],
    queryFn: async () => (await answer(client.GET("/api/v1/skus"))).items,
    refetchInterval: LOOK_AGAIN_MS,
  });
}

/** Where a would-be request would go now, or why not. */
export function usePlacement(ask: PlacementAsk) {
  return useQuery({
    queryKey: ["placement", ask],
    queryFn: () => answer(client.POST("/api/v1/placement/explain", { body: ask })),
    refetchInterval: LOOK_AGAIN_MS,
  });
}
