import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { answer, client, keyed } from "../client";
import type { components } from "../schema";

export type LiveSession = components["schemas"]["LiveSession"];

const LOOK_MS = 5_000; // somebody coming or going is no entry of the timeline

/** Who is in a machine now. */
export function useLiveSessions(allocationId: string) {
  return useQuery({
    queryKey: ["sessions", allocationId],
    queryFn: () => answer(client.GET("/api/v1/allocations/{id}/sessions", { params: { path: { id: allocationId } } })),
    refetchInterval: LOOK_MS,
  });
}

export function endSession(allocationId: string, sessionId: string, reason: string) {
  return answer(
    client.DELETE("/api/v1/allocations/{id}/sessions/{session_id}", {
      params: {
        path: { id: allocationId, session_id: sessionId },
        query: reason ? { reason } : {},
        header: keyed(),
      },
    }),
  );
}

export function useEndSession(allocationId: string) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: ({ id, reason }: { id: string; reason: string }) => endSession(allocationId, id, reason),
    onSettled: () => queries.invalidateQueries({ queryKey: ["sessions", allocationId] }),
  });
}
