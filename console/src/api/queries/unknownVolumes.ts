import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { answer, client, keyed } from "../client";
import type { components } from "../schema";
import { WATCHED } from "../watching";

export type UnknownVolume = components["schemas"]["UnknownVolume"];

const keyOf = (nodeId: string) => ["unknown-volumes", nodeId] as const;

/** Volumes that a node sees and the database does not know. */
export function useUnknownVolumes(nodeId: string) {
  return useQuery({
    queryKey: keyOf(nodeId),
    queryFn: async () =>
      (await answer(client.GET("/api/v1/admin/nodes/{id}/unknown-volumes", { params: { path: { id: nodeId } } })))
        .items,
    ...WATCHED,
  });
}

export function useAdoptVolume(nodeId: string) {
  return useSettled(nodeId, (volumeId: string, reason: string, name?: string) =>
    answer(
      client.POST("/api/v1/admin/nodes/{id}/unknown-volumes/{volume_id}/adopt", {
        params: { path: { id: nodeId, volume_id: volumeId }, header: keyed() },
        body: { reason, name: name || null },
      }),
    ),
  );
}

export function useRemoveVolume(nodeId: string) {
  return useSettled(nodeId, (volumeId: string, reason: string) =>
    answer(
      client.POST("/api/v1/admin/nodes/{id}/unknown-volumes/{volume_id}/remove", {
        params: { path: { id: nodeId, volume_id: volumeId }, header: keyed() },
        body: { reason, confirm: volumeId },
      }),
    ),
  );
}

function useSettled<T>(nodeId: string, act: (volumeId: string, reason: string, name?: string) => Promise<T>) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: ({ id, reason, name }: { id: string; reason: string; name?: string }) => act(id, reason, name),
    onSuccess: () => queries.invalidateQueries({ queryKey: keyOf(nodeId) }),
  });
}
