import { type QueryClient, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { answer, client, everyPage, keyed } from "../client";
import type { components } from "../schema";
import { WATCHED } from "../watching";
import type { Allocation } from "./allocations";

type Schemas = components["schemas"];
export type InspectedAllocation = Schemas["InspectedAllocation"];
export type NodeTask = Schemas["NodeTask"];
export type CleanupProof = Schemas["CleanupProof"];

const LIST = "admin-allocations";
const inspected = (id: string) => ["admin-allocation", id] as const;

interface Filter {
  only: Schemas["FleetFilter"];
  node_id?: string;
}

function useFleet(filter: Filter) {
  return useQuery({
    queryKey: [LIST, filter] as const,
    queryFn: (): Promise<Allocation[]> =>
      everyPage((page) =>
        answer(
          client.GET("/api/v1/admin/allocations", {
            params: { query: { ...filter, ...page } },
          }),
        ),
      ),
    ...WATCHED,
  });
}

/** What is stuck or on its way, of everybody's. */
export function useUnsettledAllocations() {
  return useFleet({ only: "unsettled" });
}

/** What stands on a node: it holds slots there until its cleanup is proven. */
export function useAllocationsOnNode(nodeId: string) {
  return useFleet({ only: "on_node", node_id: nodeId });
}

export function useInspectedAllocation(id: string) {
  return useQuery({
    queryKey: inspected(id),
    queryFn: () => answer(client.GET("/api/v1/admin/allocations/{id}", { params: { path: { id } } })),
    ...WATCHED,
  });
}

function refresh(queries: QueryClient, id: string) {
  return Promise.all([
    queries.invalidateQueries({ queryKey: inspected(id) }),
    queries.invalidateQueries({ queryKey: [LIST] }),
    queries.invalidateQueries({ queryKey: ["slots"] }),
    queries.invalidateQueries({ queryKey: ["nodes"] }),
  ]);
}

export function useForceRelease(id: string) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (reason: string) =>
      answer(
        client.POST("/api/v1/admin/allocations/{id}/force-release", {
          params: { path: { id }, header: keyed() },
          body: { reason },
        }),
      ),
    onSuccess: () => refresh(queries, id),
  });
}

export function useForceCleanup(id: string) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (body: Schemas["ForceCleanup"]) =>
      answer(
        client.POST("/api/v1/admin/allocations/{id}/force-cleanup", {
          params: { path: { id }, header: keyed() },
          body,
        }),
      ),
    onSuccess: () => refresh(queries, id),
  });
}
