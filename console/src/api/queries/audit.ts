import { keepPreviousData, useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { answer, client, pageFrom } from "../client";
import type { components } from "../schema";

type Schemas = components["schemas"];
export type AuditRow = Schemas["AuditRow"];
export type AuditResult = Schemas["AuditResult"];
export type Seal = Schemas["Seal"];

export interface AuditFilter {
  actor?: string;
  action?: string;
  target?: string;
  result?: AuditResult;
  since?: string;
  until?: string;
}

/** Whose audit log. */
export type AuditOf = { of: "project"; id: string } | { of: "tenant"; id: string } | { of: "platform" };

function read(log: AuditOf, filter: AuditFilter, cursor: string) {
  const query = { ...filter, ...pageFrom(cursor) };
  if (log.of === "platform") return answer(client.GET("/api/v1/admin/audit", { params: { query } }));
  if (log.of === "tenant") {
    return answer(client.GET("/api/v1/tenants/{tenant_id}/audit", { params: { path: { tenant_id: log.id }, query } }));
  }
  return answer(client.GET("/api/v1/projects/{project_id}/audit", { params: { path: { project_id: log.id }, query } }));
}

/** Newest first, filtered by the server; older rows when asked for. Looked at again only when asked: it is a record. */
export function useAudit(log: AuditOf, filter: AuditFilter) {
  return useInfiniteQuery({
    queryKey: ["audit", log, filter],
    queryFn: ({ pageParam }) => read(log, filter, pageParam),
    initialPageParam: "",
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
    select: ({ pages }) => pages.flatMap(({ items }) => items),
    placeholderData: keepPreviousData, // the filters stay in place while another filter is applied
    refetchInterval: false,
  });
}

/** All of it, to the end, however long; says how far it has come. */
export async function readWholeAudit(
  log: AuditOf,
  filter: AuditFilter,
  onProgress: (rows: number) => void,
): Promise<AuditRow[]> {
  const rows: AuditRow[] = [];
  let cursor = "";
  do {
    const page = await read(log, filter, cursor);
    rows.push(...page.items);
    cursor = page.next_cursor ?? "";
    onProgress(rows.length);
  } while (cursor);
  return rows;
}

/** The server's export of the whole log; null where there is none. */
export function exportAddress(log: AuditOf): string | null {
  if (log.of === "project") return null;
  return log.of === "platform" ? "/api/v1/admin/audit/export" : `/api/v1/tenants/${log.id}/audit/export`;
}

export interface Verified {
  rows: number;
  seals: number;
  errors: string[];
  notes: string[];
  head: Seal | null;
}

/** The server verifies the hash chain, some seals per request, from the first to the last. */
export function useVerification(onProgress: (rows: number) => void) {
  return useQuery({
    queryKey: ["audit-verification"],
    queryFn: async ({ signal }): Promise<Verified> => {
      const all: Verified = { rows: 0, seals: 0, errors: [], notes: [], head: null };
      for (let isComplete = false; !isComplete; ) {
        const part = await answer(
          client.GET("/api/v1/admin/audit/verification", {
            params: { query: { after: all.head?.number ?? 0 } },
            signal,
          }),
        );
        all.rows += part.rows;
        all.seals += part.seals;
        all.errors.push(...part.errors);
        all.notes.push(...part.notes);
        all.head = part.head;
        isComplete = part.is_complete;
        onProgress(all.rows);
      }
      return all;
    },
    staleTime: Number.POSITIVE_INFINITY,
    refetchInterval: false,
  });
}
