import { useInfiniteQuery } from "@tanstack/react-query";
import { answer, client, pageFrom } from "../client";
import type { components } from "../schema";

type Schemas = components["schemas"];
export type AuditRow = Schemas["AuditRow"];
export type AuditResult = Schemas["AuditResult"];

export interface AuditFilter {
  actor?: string;
  action?: string;
  result?: AuditResult;
  since?: string;
  until?: string;
}

function read(projectId: string, filter: AuditFilter, cursor: string) {
  return answer(
    client.GET("/api/v1/projects/{project_id}/audit", {
      params: { path: { project_id: projectId }, query: { ...filter, ...pageFrom(cursor) } },
    }),
  );
}

/** Newest first, filtered by the server; older rows when asked for. Looked at again only when asked: it is a record. */
export function useAudit(projectId: string, filter: AuditFilter) {
  return useInfiniteQuery({
    queryKey: ["audit", projectId, filter],
    queryFn: ({ pageParam }) => read(projectId, filter, pageParam),
    initialPageParam: "",
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
    select: ({ pages }) => pages.flatMap(({ items }) => items),
    refetchInterval: false,
  });
}

/** All of it, to the end, however long; says how far it has come. */
export async function readWholeAudit(
  projectId: string,
  filter: AuditFilter,
  onProgress: (rows: number) => void,
): Promise<AuditRow[]> {
  const rows: AuditRow[] = [];
  let cursor = "";
  do {
    const page = await read(projectId, filter, cursor);
    rows.push(...page.items);
    cursor = page.next_cursor ?? "";
    onProgress(rows.length);
  } while (cursor);
  return rows;
}
