import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { answer, client, everyPage, keyed } from "../client";
import type { components } from "../schema";
import type { AccountKind } from "./accounts";

type Schemas = components["schemas"];
export type QuotaLine = Schemas["QuotaLine"];
export type Dimension = Schemas["Dimension"];
export type Limits = Partial<Record<Dimension, number | null>>;

/** What a project may have, has, and may still add. */
export function useProjectQuota(projectId: string) {
  return useQuery({
    queryKey: ["quota", projectId],
    queryFn: () =>
      answer(client.GET("/api/v1/projects/{project_id}/quota", { params: { path: { project_id: projectId } } })),
    refetchOnMount: "always",
  });
}

/** Tokens, SSH keys and open streams of whoever is signed in. */
export function useOwnQuota() {
  return useQuery({
    queryKey: ["quota", "own"],
    queryFn: () => answer(client.GET("/api/v1/me/quota")),
    refetchOnMount: "always",
  });
}

/** Whose limits operators change: an account, or the defaults of the platform. */
export type QuotaOf = { kind: AccountKind; id: string } | { kind: "platform" };

const ADMIN = { tenant: "tenants", project: "projects", user: "users" } as const;

async function readLines(of: QuotaOf): Promise<QuotaLine[]> {
  if (of.kind === "platform") {
    const set = await everyPage((page) => answer(client.GET("/api/v1/admin/quotas", { params: { query: page } })));
    return set
      .filter(({ scope }) => scope === "platform")
      .map(({ dimension, amount }) => ({ dimension, limit: amount, used: null, remaining: null, limited_by: null }));
  }
  const found = await answer(
    client.GET(`/api/v1/admin/${ADMIN[of.kind]}/{id}/quotas`, { params: { path: { id: of.id } } }),
  );
  return found.lines;
}

export function useQuotaLines(of: QuotaOf) {
  return useQuery({ queryKey: ["admin-quota", of], queryFn: () => readLines(of) });
}

function useChange<Asked>(change: (asked: Asked) => Promise<unknown>) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: change,
    onSuccess: () =>
      Promise.all([
        queries.invalidateQueries({ queryKey: ["admin-quota"] }), // a default changes what accounts may have
        queries.invalidateQueries({ queryKey: ["quota"] }),
      ]),
  });
}

export function useSetLimits(of: QuotaOf) {
  return useChange(({ limits, reason }: { limits: Limits; reason: string }) => {
    const body = { limits: limits as Record<string, number | null>, reason };
    if (of.kind === "platform") {
      return answer(client.PUT("/api/v1/admin/quotas", { params: { header: keyed() }, body }));
    }
    return answer(
      client.PUT(`/api/v1/admin/${ADMIN[of.kind]}/{id}/quotas`, {
        params: { path: { id: of.id }, header: keyed() },
        body,
      }),
    );
  });
}

/** Back to what holds without limits of their own. */
export function useClearLimits(of: { kind: AccountKind; id: string }) {
  return useChange(() =>
    answer(
      client.DELETE(`/api/v1/admin/${ADMIN[of.kind]}/{id}/quotas`, {
        params: { path: { id: of.id }, header: keyed() },
      }),
    ),
  );
}
