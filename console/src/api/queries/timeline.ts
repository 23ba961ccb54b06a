import { type QueryClient, useQuery } from "@tanstack/react-query";
import { answer, client } from "../client";
import type { Entry } from "../live";

const LATELY = 200;
const timelineKey = (projectId: string) => ["timeline", projectId] as const;

/** What happened to anything in the project lately, newest first; the live stream adds to it. */
export function useTimeline(projectId: string | undefined) {
  return useQuery({
    queryKey: timelineKey(projectId ?? ""),
    queryFn: async () => {
      const page = await answer(
        client.GET("/api/v1/projects/{project_id}/timeline", {
          params: { path: { project_id: projectId ?? "" }, query: { limit: LATELY } },
        }),
      );
      return page.items;
    },
    enabled: projectId !== undefined,
    refetchInterval: 60_000,
    staleTime: 30_000,
  });
}

/** The id of the last entry that was told here. */
export function newestEntry(queries: QueryClient, projectId: string): number | undefined {
  return queries.getQueryData<Entry[]>(timelineKey(projectId))?.[0]?.id;
}

/** `told` in the order they happened. */
export function addToTimeline(queries: QueryClient, projectId: string, told: readonly Entry[]): void {
  queries.setQueryData<Entry[]>(timelineKey(projectId), (entries) => entries && told.reduce(withEntry, entries));
}

/** Told twice, it is there once. */
export function withEntry(entries: Entry[], entry: Entry): Entry[] {
  if (entries.some(({ id }) => id === entry.id)) return entries;
  return [entry, ...entries].slice(0, LATELY);
}
