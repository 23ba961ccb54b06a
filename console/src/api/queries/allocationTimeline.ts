import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { answer, client, pageFrom } from "../client";
import { joined, type Timeline } from "../joined";

const NOTHING: Timeline = { entries: [], older: null };

function readPage(id: string, cursor: string | null) {
  return answer(
    client.GET("/api/v1/allocations/{id}/timeline", {
      params: { path: { id }, query: pageFrom(cursor) },
    }),
  );
}

/** Entries never change: looking again reads only what is new, however much is known. */
export function useAllocationTimeline(id: string) {
  const queries = useQueryClient();
  const queryKey = ["timeline", id] as const;
  const timeline = useQuery({
    queryKey,
    queryFn: async () => joined(await readPage(id, null), queries.getQueryData<Timeline>(queryKey) ?? NOTHING),
    structuralSharing: false, // thousands of entries would be compared; `joined` keeps those that are known
  });
  const { mutate, isPending } = useMutation({
    mutationFn: (cursor: string) => readPage(id, cursor),
    onSuccess: ({ items, next_cursor }) =>
      queries.setQueryData<Timeline>(queryKey, (known = NOTHING) => ({
        entries: [...known.entries, ...items],
        older: next_cursor ?? null,
      })),
  });
  const older = timeline.data?.older ?? null;
  return { timeline, isReadingOlder: isPending, readOlder: older === null || isPending ? null : () => mutate(older) };
}
