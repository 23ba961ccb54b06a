import { keepPreviousData, useInfiniteQuery, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { answer, client, keyed, pageFrom } from "../client";
import { Problem } from "../problem";
import type { components } from "../schema";
import { WATCHED } from "../watching";

type Schemas = components["schemas"];
export type AccountKind = Schemas["AccountKind"];

/** A tenant, project or person as operators see it. */
export interface Account {
  kind: AccountKind;
  id: string;
  name: string;
  created_at: string;
  suspended_at: string | null;
  suspension_reason: string;
  tenant_id: string | null;
  facts: readonly { label: string; value: string }[];
}

interface Asked {
  kind: AccountKind;
  search?: string;
  tenant_id?: string;
}

interface Page {
  items: Account[];
  next_cursor: string | null;
}

async function read({ kind, search, tenant_id }: Asked, cursor: string): Promise<Page> {
  const query = { ...(search ? { search } : {}), ...pageFrom(cursor) };
  if (kind === "tenant")
    return paged(await answer(client.GET("/api/v1/admin/tenants", { params: { query } })), ofTenant);
  if (kind === "user") return paged(await answer(client.GET("/api/v1/admin/users", { params: { query } })), ofUser);
  const inTenant = { ...query, ...(tenant_id ? { tenant_id } : {}) };
  return paged(await answer(client.GET("/api/v1/admin/projects", { params: { query: inTenant } })), ofProject);
}

function paged<T>({ items, next_cursor }: { items: T[]; next_cursor?: string | null }, of: (row: T) => Account): Page {
  return { items: items.map(of), next_cursor: next_cursor ?? null };
}

function ofTenant({ slug, type, members, projects, allocations, ...row }: Schemas["AdminTenant"]): Account {
  const facts = [
    { label: "Type", value: type },
    { label: "Members", value: `${members}` },
    { label: "Projects", value: `${projects}` },
    { label: "Allocations", value: `${allocations}` },
  ];
  return { ...row, kind: "tenant", name: slug, tenant_id: null, facts };
}

function ofProject({ slug, tenant_slug, allocations, ...row }: Schemas["AdminProject"]): Account {
  const facts = [
    { label: "Tenant", value: tenant_slug },
    { label: "Allocations", value: `${allocations}` },
  ];
  return { ...row, kind: "project", name: `${tenant_slug}/${slug}`, facts };
}

function ofUser({ email, platform_role, ...row }: Schemas["AdminUser"]): Account {
  const facts = [{ label: "Platform role", value: platform_role ?? "None" }];
  return { ...row, kind: "user", name: email, tenant_id: null, facts };
}

/** Newest first; the server searches, so that every account is found. */
export function useAccounts(asked: Asked) {
  return useInfiniteQuery({
    queryKey: ["accounts", asked],
    queryFn: ({ pageParam }) => read(asked, pageParam),
    initialPageParam: "",
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
    select: ({ pages }) => pages.flatMap(({ items }) => items),
    placeholderData: keepPreviousData,
  });
}

export function useAccount(kind: AccountKind, id: string) {
  return useQuery({
    queryKey: ["account", kind, id],
    queryFn: async () => {
      const found = (await read({ kind, search: id }, "")).items.find((each) => each.id === id);
      if (found === undefined) {
        throw new Problem({ status: 404, code: `${kind}_not_found`, detail: `There is no ${kind} with the id ${id}.` });
      }
      return found;
    },
    ...WATCHED,
  });
}

/** Suspends the account, or ends its suspension. */
export function useSetSuspension({ kind, id }: Pick<Account, "kind" | "id">) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: ({ verb, reason }: { verb: "suspend" | "unsuspend"; reason: string }) => {
      const params = { path: { id }, header: keyed() };
      const body = { reason };
      if (kind === "tenant") return answer(client.POST(`/api/v1/admin/tenants/{id}/${verb}`, { params, body }));
      if (kind === "project") return answer(client.POST(`/api/v1/admin/projects/{id}/${verb}`, { params, body }));
      return answer(client.POST(`/api/v1/admin/users/{id}/${verb}`, { params, body }));
    },
    onSuccess: () =>
      Promise.all([
        queries.invalidateQueries({ queryKey: ["account", kind, id] }),
        queries.invalidateQueries({ queryKey: ["accounts"] }),
        queries.invalidateQueries({ queryKey: ["me"] }), // it may be the operator's own project
      ]),
  });
}
