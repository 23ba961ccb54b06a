import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { answer, client, everyPage, keyed } from "../client";
import type { components } from "../schema";
import { WATCHED } from "../watching";

type Schemas = components["schemas"];
export type RuntimeBundle = Schemas["RuntimeBundle"];
export type RuntimeBundleDetail = Schemas["RuntimeBundleDetail"];
export type Staging = Schemas["Staging"];
export type StagingDetail = Schemas["StagingDetail"];
export type PublishRuntimeBundle = Schemas["PublishRuntimeBundle"];
export type BundleVerb = "deprecate" | "republish" | "retire";

const keys = {
  list: ["admin-runtime-bundles"] as const,
  one: (id: string) => ["admin-runtime-bundle", id] as const,
  stagings: (id: string) => ["stagings", id] as const,
  staging: (id: string, nodeId: string) => ["staging", id, nodeId] as const,
};

export function useBundleCatalog() {
  return useQuery({
    queryKey: keys.list,
    queryFn: () =>
      everyPage((page) =>
        answer(
          client.GET("/api/v1/admin/runtime-bundles", {
            params: { query: page },
          }),
        ),
      ),
    ...WATCHED,
  });
}

export function useBundle(id: string) {
  return useQuery({
    queryKey: keys.one(id),
    queryFn: () => answer(client.GET("/api/v1/admin/runtime-bundles/{id}", { params: { path: { id } } })),
    ...WATCHED,
  });
}

export function useStagings(bundleId: string) {
  return useQuery({
    queryKey: keys.stagings(bundleId),
    queryFn: async () =>
      (await answer(client.GET("/api/v1/admin/runtime-bundles/{id}/nodes", { params: { path: { id: bundleId } } })))
        .items,
    ...WATCHED,
  });
}

export function useStaging(bundleId: string, nodeId: string) {
  return useQuery({
    queryKey: keys.staging(bundleId, nodeId),
    queryFn: () =>
      answer(
        client.GET("/api/v1/admin/runtime-bundles/{id}/nodes/{node_id}", {
          params: { path: { id: bundleId, node_id: nodeId } },
        }),
      ),
    ...WATCHED,
  });
}

export function usePublishBundle() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (body: PublishRuntimeBundle) =>
      answer(
        client.POST("/api/v1/admin/runtime-bundles", {
          params: { header: keyed() },
          body,
        }),
      ),
    onSuccess: () => queries.invalidateQueries({ queryKey: keys.list }),
  });
}

export function useChangeBundle(id: string) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: ({ verb, reason }: { verb: BundleVerb; reason: string }) =>
      answer(
        client.POST(`/api/v1/admin/runtime-bundles/{id}/${verb}`, {
          params: { path: { id }, header: keyed() },
          body: { reason },
        }),
      ),
    onSuccess: () => Promise.all([keys.one(id), keys.list].map((queryKey) => queries.invalidateQueries({ queryKey }))),
  });
}

/** With no node named, on every active one that it fits. */
export function useStageBundle(id: string) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (nodeIds: readonly string[]) =>
      answer(
        client.POST("/api/v1/admin/runtime-bundles/{id}/stage", {
          params: { path: { id }, header: keyed() },
          body: { node_ids: [...nodeIds] },
        }),
      ),
    onSuccess: () => queries.invalidateQueries({ queryKey: keys.stagings(id) }),
  });
}
