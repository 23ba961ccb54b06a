import { type QueryClient, useQuery } from "@tanstack/react-query";
import { answer, client, everyPage } from "../client";
import type { components } from "../schema";

export type Allocation = components["schemas"]["Allocation"];
export type AllocationStatus = components["schemas"]["Status"];

export const allocationKeys = {
  list: (projectId: string) => ["allocations", projectId] as const,
  one: (id: string) => ["allocation", id] as const,
};

const PAGE = 200;

export function useAllocations(projectId: string) {
  return useQuery({
    queryKey: allocationKeys.list(projectId),
    queryFn: () =>
      everyPage((cursor) =>
        answer(
          client.GET("/api/v1/projects/{project_id}/allocations", {
            params: { path: { project_id: projectId }, query: { limit: PAGE, ...(cursor ? { cursor } : {}) } },
          }),
        ),
      ),
  });
}

function readAllocation(id: string) {
  return answer(client.GET("/api/v1/allocations/{id}", { params: { path: { id } } }));
}

export function useAllocation(id: string) {
  return useQuery({ queryKey: allocationKeys.one(id), queryFn: () => readAllocation(id) });
}

/** One row is read again and put where it is shown, so that an event among a thousand rows costs one of them. */
export async function refreshAllocation(queries: QueryClient, projectId: string, id: string): Promise<void> {
  const seen = await queries.fetchQuery({
    queryKey: allocationKeys.one(id),
    queryFn: () => readAllocation(id),
    staleTime: 0,
  });
  queries.setQueryData<Allocation[]>(allocationKeys.list(projectId), (rows) => {
    if (rows === undefined) return rows;
    const isKnown = rows.some((row) => row.id === id);
    return isKnown ? rows.map((row) => (row.id === id ? seen : row)) : [seen, ...rows];
  });
}
