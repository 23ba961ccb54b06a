import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { answer, client, keyed } from "../client";
import type { components } from "../schema";
import { WATCHED } from "../watching";

export type UnknownEnvironment = components["schemas"]["UnknownEnvironment"];

const keyOf = (nodeId: string) => ["unknown-environments", nodeId] as const;

/** Environments of a node that the database does not know; asked for only where there are any. */
export function useUnknownEnvironments(nodeId: string, isWanted: boolean) {
  return useQuery({
    queryKey: keyOf(nodeId),
    enabled: isWanted,
    queryFn: async () =>
      (await answer(client.GET("/api/v1/admin/nodes/{id}/unknown-environments", { params: { path: { id: nodeId } } })))
        .items,
    ...WATCHED,
  });
}

export function useAdoptEnvironment(nodeId: string) {
  return useSettled(nodeId, (environmentId: string, reason: string) =>
    answer(
      client.POST("/api/v1/admin/nodes/{id}/unknown-environments/{environment_id}/adopt", {
        params: { path: { id: nodeId, environment_id: environmentId }, header: keyed() },
        body: { reason },
      }),
    ),
  );
}

export function useRemoveEnvironment(nodeId: string) {
  return useSettled(nodeId, (environmentId: string, reason: string) =>
    answer(
      client.POST("/api/v1/admin/nodes/{id}/unknown-environments/{environment_id}/remove", {
        params: { path: { id: nodeId, environment_id: environmentId }, header: keyed() },
        body: { reason, confirm: environmentId },
      }),
    ),
  );
}

function useSettled<T>(nodeId: string, act: (environmentId: string, reason: string) => Promise<T>) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: ({ id, reason }: { id: string; reason: string }) => act(id, reason),
    onSuccess: () =>
      Promise.all(
        [keyOf(nodeId), ["node", nodeId], ["slots", nodeId]].map((queryKey) => queries.invalidateQueries({ queryKey })),
      ),
  });
}
