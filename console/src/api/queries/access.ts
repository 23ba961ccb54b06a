import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { answer, client, everyPage, keyed } from "../client";
import type { components } from "../schema";
import { type Allocation, allocationKeys } from "./allocations";

type Schemas = components["schemas"];
export type AccessGrant = Schemas["AccessGrant"];
export type BreakGlass = Schemas["BreakGlass"];
export type OwnKeyFile = Schemas["OwnKeyFile"];
export type AllocationKeys = Schemas["AllocationKeys"];

const SETTLED_MS = 10_000;
const ON_ITS_WAY_MS = 1_000; // that a machine has taken its keys is no entry of the timeline

/** Lists over all allocations of a project; a change of one allocation may change them. */
const PROJECT_LISTS: readonly string[] = ["project-grants", "project-own-keys"];

const accessKeys = {
  keys: (allocationId: string) => ["allocation-keys", allocationId] as const,
  grants: (allocationId: string) => ["access-grants", allocationId] as const,
};

/** Which keys open a machine. */
export function useAllocationKeys(allocationId: string) {
  return useQuery({
    queryKey: accessKeys.keys(allocationId),
    queryFn: () => answer(client.GET("/api/v1/allocations/{id}/ssh-keys", { params: { path: { id: allocationId } } })),
    refetchInterval: ({ state: { data } }) => (data?.installed === false ? ON_ITS_WAY_MS : SETTLED_MS),
  });
}

/** Who was given a machine, who asked, and what is over. */
export function useAccessGrants(allocationId: string, isWanted = true) {
  return useQuery({
    queryKey: accessKeys.grants(allocationId),
    queryFn: () =>
      everyPage((page) =>
        answer(
          client.GET("/api/v1/allocations/{id}/access-grants", {
            params: { path: { id: allocationId }, query: page },
          }),
        ),
      ),
    refetchInterval: ({ state: { data } }) => (data?.some(isOnItsWay) ? ON_ITS_WAY_MS : SETTLED_MS),
    enabled: isWanted,
  });
}

/** Every live grant of a project. */
export function useProjectGrants(projectId: string) {
  return useQuery({
    queryKey: ["project-grants", projectId],
    queryFn: () =>
      everyPage((page) =>
        answer(
          client.GET("/api/v1/projects/{project_id}/access-grants", {
            params: { path: { project_id: projectId }, query: page },
          }),
        ),
      ),
    refetchInterval: ({ state: { data } }) => (data?.some(isOnItsWay) ? ON_ITS_WAY_MS : SETTLED_MS),
  });
}

/** The allocations of a project that admit keys of their own authorized_keys file. */
export function useProjectOwnKeys(projectId: string) {
  return useQuery({
    queryKey: ["project-own-keys", projectId],
    queryFn: () =>
      everyPage((page) =>
        answer(
          client.GET("/api/v1/projects/{project_id}/own-keys", {
            params: { path: { project_id: projectId }, query: page },
          }),
        ),
      ),
    refetchInterval: ({ state: { data } }) => (data?.some((file) => !file.installed) ? ON_ITS_WAY_MS : SETTLED_MS),
  });
}

export function useRefuseOwnKeys(allocationId: string) {
  return useChange(allocationId, () =>
    answer(
      client.PUT("/api/v1/allocations/{id}/own-keys", {
        params: { path: { id: allocationId }, header: keyed() },
        body: { allowed: false },
      }),
    ),
  );
}

/** Operators' break-glass access, newest first: only the first page, for open access is among the newest. */
export function useBreakGlass(allocationId: string) {
  return useQuery({
    queryKey: ["break-glass", allocationId],
    queryFn: async () =>
      (await answer(client.GET("/api/v1/allocations/{id}/break-glass", { params: { path: { id: allocationId } } })))
        .items,
  });
}

export function useEndBreakGlass(allocationId: string) {
  return useChange(allocationId, () =>
    answer(
      client.DELETE("/api/v1/allocations/{id}/break-glass", {
        params: { path: { id: allocationId }, header: keyed() },
      }),
    ),
  );
}

function isOnItsWay({ status, installed }: AccessGrant): boolean {
  return status === "active" && !installed;
}

/** Whatever is changed, keys, grants and sessions of the machine follow from it. */
function useChange<Asked, Answered>(allocationId: string, change: (asked: Asked) => Promise<Answered>) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: change,
    onSuccess: () =>
      queries.invalidateQueries({
        predicate: ({ queryKey }) => queryKey[1] === allocationId || PROJECT_LISTS.includes(String(queryKey[0])),
      }),
  });
}

export function useSetKeys(allocationId: string) {
  return useChange(allocationId, (body: Schemas["SetSshKeys"]) =>
    answer(
      client.PUT("/api/v1/allocations/{id}/ssh-keys", {
        params: { path: { id: allocationId }, header: keyed() },
        body,
      }),
    ),
  );
}

/** To a member; for somebody who asked, this says yes. */
export function useCreateGrant(allocationId: string) {
  return useChange(allocationId, (body: Schemas["CreateAccessGrant"]) =>
    answer(
      client.POST("/api/v1/allocations/{id}/access-grants", {
        params: { path: { id: allocationId }, header: keyed() },
        body,
      }),
    ),
  );
}

export function useAskAccess(allocationId: string) {
  return useChange(allocationId, (body: Schemas["AskAccess"]) =>
    answer(
      client.POST("/api/v1/allocations/{id}/access-requests", {
        params: { path: { id: allocationId }, header: keyed() },
        body,
      }),
    ),
  );
}

export function useChangeGrant(allocationId: string) {
  return useChange(allocationId, ({ id, body }: { id: string; body: Schemas["ChangeAccessGrant"] }) =>
    answer(
      client.PATCH("/api/v1/allocations/{id}/access-grants/{grant_id}", {
        params: { path: { id: allocationId, grant_id: id }, header: keyed() },
        body,
      }),
    ),
  );
}

export function useRevokeGrant(allocationId: string) {
  return useChange(allocationId, ({ id, reason }: { id: string; reason: string }) =>
    answer(
      client.DELETE("/api/v1/allocations/{id}/access-grants/{grant_id}", {
        params: { path: { id: allocationId, grant_id: id }, query: reason ? { reason } : {}, header: keyed() },
      }),
    ),
  );
}

export function useHandOver(allocationId: string) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (body: Schemas["HandOver"]) =>
      answer(
        client.POST("/api/v1/allocations/{id}/handover", {
          params: { path: { id: allocationId }, header: keyed() },
          body,
        }),
      ),
    onSuccess: (seen: Allocation) => {
      queries.setQueryData(allocationKeys.one(allocationId), seen);
      return queries.invalidateQueries({ predicate: ({ queryKey }) => queryKey.includes(allocationId) });
    },
  });
}
