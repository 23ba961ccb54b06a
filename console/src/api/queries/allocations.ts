import { type QueryClient, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { answer, client, everyPage, keyed } from "../client";
import type { components } from "../schema";

type Schemas = components["schemas"];
export type Allocation = Schemas["Allocation"];
export type AllocationStatus = Schemas["Status"];
export type Disruption = Schemas["Disruption"];
export type Resize = Schemas["ResizeAllocation"];
export type Extension = Schemas["ExtendAllocation"];

export const allocationKeys = {
  list: (projectId: string) => ["allocations", projectId] as const,
  one: (id: string) => ["allocation", id] as const,
};

export function useAllocations(projectId: string) {
  return useQuery({
    queryKey: allocationKeys.list(projectId),
    queryFn: async ({ client: queries }) => {
      const askedAt = Date.now();
      const rows = await everyPage((page) =>
        answer(
          client.GET("/api/v1/projects/{project_id}/allocations", {
            params: { path: { project_id: projectId }, query: page },
          }),
        ),
      );
      return readSince(queries, projectId, askedAt).reduce(withRow, rows);
    },
  });
}

export function readAllocation(id: string) {
  return answer(client.GET("/api/v1/allocations/{id}", { params: { path: { id } } }));
}

/** Who comes from a list sees at once what the list knew. */
export function useAllocation(id: string) {
  const queries = useQueryClient();
  return useQuery({
    queryKey: allocationKeys.one(id),
    queryFn: () => readAllocation(id),
    placeholderData: () =>
      queries
        .getQueriesData<Allocation[]>({ queryKey: ["allocations"] })
        .flatMap(([, rows]) => rows ?? [])
        .find((row) => row.id === id),
  });
}

/** One row is read again and put where it is shown, so that an event among a thousand rows costs one of them. */
export async function refreshAllocation(queries: QueryClient, projectId: string, id: string): Promise<void> {
  const queryKey = allocationKeys.one(id);
  await queries.cancelQueries({ queryKey }, { silent: true }); // asked before the event, it may not know of it
  const seen = await queries.fetchQuery({ queryKey, queryFn: () => readAllocation(id), staleTime: 0 });
  putInList(queries, projectId, seen);
}

function putInList(queries: QueryClient, projectId: string, seen: Allocation): void {
  queries.setQueryData<Allocation[]>(allocationKeys.list(projectId), (rows) => rows && withRow(rows, seen));
}

/** What events told of while a list was on its way: the list may be older than that. */
function readSince(queries: QueryClient, projectId: string, askedAt: number): Allocation[] {
  return queries
    .getQueryCache()
    .findAll({ queryKey: ["allocation"], predicate: ({ state }) => state.dataUpdatedAt >= askedAt })
    .map(({ state }) => state.data as Allocation)
    .filter((row) => row.project_id === projectId);
}

function withRow(rows: Allocation[], seen: Allocation): Allocation[] {
  const isKnown = rows.some((row) => row.id === seen.id);
  return isKnown ? rows.map((row) => (row.id === seen.id ? seen : row)) : [seen, ...rows];
}

/** What a release, restart or resize would end, and what it would leave. */
export function useConsequences(id: string, of: Disruption) {
  return useQuery({
    queryKey: ["consequences", id, of],
    queryFn: () =>
      answer(client.GET("/api/v1/allocations/{id}/consequences", { params: { path: { id }, query: { of } } })),
  });
}

/** When it ends by itself, with the signals of use behind it. */
export function useLimits(id: string) {
  return useQuery({
    queryKey: ["limits", id],
    queryFn: () => answer(client.GET("/api/v1/allocations/{id}/limits", { params: { path: { id } } })),
  });
}

/** A change of one machine; `key` names the asking, so that pressing twice does it once. */
export interface Change<Body> {
  body: Body;
  key: string;
}

export function useRestart(id: string) {
  return useChange((asked: Change<Schemas["RestartAllocation"]>) =>
    answer(client.POST("/api/v1/allocations/{id}/restart", { ...about(id, asked) })),
  );
}

export function useRelease(id: string) {
  return useChange((asked: Change<Schemas["ReleaseAllocation"]>) =>
    answer(client.POST("/api/v1/allocations/{id}/release", { ...about(id, asked) })),
  );
}

export function useResize(id: string) {
  return useChange((asked: Change<Resize>) =>
    answer(client.POST("/api/v1/allocations/{id}/resize", { ...about(id, asked) })),
  );
}

export function useExtend(id: string) {
  return useChange((asked: Change<Extension>) =>
    answer(client.POST("/api/v1/allocations/{id}/extend", { ...about(id, asked) })),
  );
}

function about<Body>(id: string, { body, key }: Change<Body>) {
  return { params: { path: { id }, header: keyed(key) }, body };
}

/** The answer is the machine as it is now: shown at once, before any event tells of it. */
function useChange<Asked>(change: (asked: Asked) => Promise<Allocation>) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: change,
    onSuccess: (seen) => {
      queries.setQueryData(allocationKeys.one(seen.id), seen);
      putInList(queries, seen.project_id, seen);
      void queries.invalidateQueries({
        predicate: ({ queryKey }) => queryKey[0] !== "allocation" && queryKey.includes(seen.id),
      });
    },
  });
}
