import { type QueryClient, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { answer, client, everyPage, keyed } from "../client";
import type { components } from "../schema";

type Schemas = components["schemas"];
export type Volume = Schemas["Volume"];
export type NewVolume = Schemas["CreateVolume"];
export type VolumeChange = Schemas["ChangeVolume"];
export type Snapshot = Schemas["Snapshot"];
export type StorageBackend = Schemas["StorageBackend"];

export const volumeKeys = {
  list: (projectId: string) => ["volumes", projectId] as const,
  one: (id: string) => ["volume", id] as const,
  snapshots: (volumeId: string) => ["snapshots", volumeId] as const,
  timeline: (volumeId: string) => ["timeline", volumeId] as const,
};

export function useVolumes(projectId: string, isWanted = true) {
  return useQuery({
    queryKey: volumeKeys.list(projectId),
    enabled: isWanted,
    queryFn: () =>
      everyPage((page) =>
        answer(
          client.GET("/api/v1/projects/{project_id}/volumes", {
            params: { path: { project_id: projectId }, query: page },
          }),
        ),
      ),
  });
}

export function useVolume(projectId: string, id: string) {
  return useQuery({
    queryKey: volumeKeys.one(id),
    queryFn: () =>
      answer(
        client.GET("/api/v1/projects/{project_id}/volumes/{volume_id}", {
          params: { path: { project_id: projectId, volume_id: id } },
        }),
      ),
  });
}

/** What volumes can be kept on, how durable that is, and how it did when it was last tried. */
export function useStorageBackends() {
  return useQuery({
    queryKey: ["storage-backends"],
    queryFn: async () => (await answer(client.GET("/api/v1/storage-backends"))).items,
    staleTime: 60_000,
    refetchInterval: false,
  });
}

export function useCreateVolume(projectId: string) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (body: NewVolume) =>
      answer(
        client.POST("/api/v1/projects/{project_id}/volumes", {
          params: { path: { project_id: projectId }, header: keyed() },
          body,
        }),
      ),
    onSuccess: (volume) => seen(queries, projectId, volume),
  });
}

export function useChangeVolume(projectId: string, id: string) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (body: VolumeChange) =>
      answer(
        client.PATCH("/api/v1/projects/{project_id}/volumes/{volume_id}", {
          params: { path: { project_id: projectId, volume_id: id }, header: keyed() },
          body,
        }),
      ),
    onSuccess: (volume) => seen(queries, projectId, volume),
  });
}

export function useDeleteVolume(projectId: string, id: string) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: () =>
      answer(
        client.DELETE("/api/v1/projects/{project_id}/volumes/{volume_id}", {
          params: { path: { project_id: projectId, volume_id: id }, header: keyed() },
        }),
      ),
    onSuccess: (volume) => seen(queries, projectId, volume),
  });
}

async function seen(queries: QueryClient, projectId: string, volume: Volume): Promise<void> {
  queries.setQueryData(volumeKeys.one(volume.id), volume);
  await queries.invalidateQueries({ queryKey: volumeKeys.list(projectId) });
}

export function useSnapshots(volumeId: string) {
  return useQuery({
    queryKey: volumeKeys.snapshots(volumeId),
    queryFn: () =>
      everyPage((page) =>
        answer(
          client.GET("/api/v1/volumes/{volume_id}/snapshots", {
            params: { path: { volume_id: volumeId }, query: page },
          }),
        ),
      ),
  });
}

export function useTakeSnapshot(volumeId: string) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (name: string) =>
      answer(
        client.POST("/api/v1/volumes/{volume_id}/snapshots", {
          params: { path: { volume_id: volumeId }, header: keyed() },
          body: { name },
        }),
      ),
    onSuccess: () => queries.invalidateQueries({ queryKey: volumeKeys.snapshots(volumeId) }),
  });
}

export function useDeleteSnapshot(volumeId: string) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (id: string) =>
      answer(
        client.DELETE("/api/v1/volumes/{volume_id}/snapshots/{snapshot_id}", {
          params: { path: { volume_id: volumeId, snapshot_id: id }, header: keyed() },
        }),
      ),
    onSuccess: () => queries.invalidateQueries({ queryKey: volumeKeys.snapshots(volumeId) }),
  });
}

/** What happened to the volume, newest first. */
export function useVolumeTimeline(volumeId: string) {
  return useQuery({
    queryKey: volumeKeys.timeline(volumeId),
    queryFn: () =>
      everyPage((page) =>
        answer(
          client.GET("/api/v1/volumes/{volume_id}/timeline", {
            params: { path: { volume_id: volumeId }, query: page },
          }),
        ),
      ),
  });
}
