import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { answer, client, everyPage, keyed } from "../client";
import type { components } from "../schema";
import { WATCHED } from "../watching";

type Schemas = components["schemas"];
export type Node = Schemas["Node"];
export type NodeFacts = Schemas["NodeFacts"];
export type Slot = Schemas["Slot"];
export type SlotMark = Schemas["SlotMark"];
export type Intent = Schemas["Intent"];
export type EnrolmentToken = Schemas["EnrolmentToken"];
export type NodeVerb = "drain" | "undrain" | "quarantine" | "unquarantine" | "retire" | "lost";
export type SlotVerb = "approve" | "disable" | "enable";

const keys = {
  list: ["nodes"] as const,
  one: (id: string) => ["node", id] as const,
  slots: (id: string) => ["slots", id] as const,
};

export function useNodes(isWanted = true) {
  return useQuery({
    queryKey: keys.list,
    enabled: isWanted,
    queryFn: () => everyPage((page) => answer(client.GET("/api/v1/admin/nodes", { params: { query: page } }))),
    ...WATCHED,
  });
}

export function useNode(id: string) {
  return useQuery({
    queryKey: keys.one(id),
    queryFn: () => answer(client.GET("/api/v1/admin/nodes/{id}", { params: { path: { id } } })),
    ...WATCHED,
  });
}

export function useSlots(nodeId: string) {
  return useQuery({
    queryKey: keys.slots(nodeId),
    queryFn: async () =>
      (await answer(client.GET("/api/v1/admin/nodes/{id}/slots", { params: { path: { id: nodeId } } }))).items,
    ...WATCHED,
  });
}

/** A node's name where it is known; its id until then. */
export function useNodeNames(): (id: string) => string {
  const nodes = useNodes().data ?? [];
  return (id) => nodes.find((node) => node.id === id)?.name ?? id;
}

export function useChangeNode(id: string) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: ({ verb, reason }: { verb: NodeVerb; reason: string }) =>
      answer(
        client.POST(`/api/v1/admin/nodes/{id}/${verb}`, {
          params: { path: { id }, header: keyed() },
          body: { reason },
        }),
      ),
    onSuccess: (node) => {
      queries.setQueryData(keys.one(id), node);
      void queries.invalidateQueries({ queryKey: keys.list });
    },
  });
}

interface ChangeSlots {
  verb: SlotVerb;
  indexes: readonly number[];
  reason: string;
}

/** One after the other: each is a change of its own, and the first refusal ends it. */
export function useChangeSlots(nodeId: string) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: async ({ verb, indexes, reason }: ChangeSlots) => {
      for (const index of indexes) {
        await answer(
          client.POST(`/api/v1/admin/nodes/{id}/slots/{index}/${verb}`, {
            params: { path: { id: nodeId, index }, header: keyed() },
            body: { reason },
          }),
        );
      }
    },
    onSettled: () =>
      Promise.all(
        [keys.slots(nodeId), keys.one(nodeId), keys.list].map((queryKey) => queries.invalidateQueries({ queryKey })),
      ),
  });
}

/** The answer is shown once and kept nowhere. */
export function useCreateEnrolmentToken() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (body: Schemas["CreateEnrolmentToken"]) =>
      answer(client.POST("/api/v1/admin/enrolment-tokens", { body })),
    onSuccess: () => queries.invalidateQueries({ queryKey: keys.list }),
    gcTime: 0,
  });
}
