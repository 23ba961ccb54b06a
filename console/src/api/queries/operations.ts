import { type InfiniteData, useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { answer, client, everyPage, pageFrom } from "../client";
import type { components } from "../schema";
import { WATCHED } from "../watching";

type Schemas = components["schemas"];
export type Operation = Schemas["Operation"];
export type OperationStatus = Schemas["OperationStatus"];
export type Phase = Schemas["Phase"];

interface Page<T> {
  items: T[];
  next_cursor?: string | null;
}

const flat = <T>({ pages }: InfiniteData<Page<T>>): T[] => pages.flatMap(({ items }) => items);

/** Running and past ones of a project, newest first; older ones when asked for. */
export function useOperations(projectId: string) {
  return useInfiniteQuery({
    queryKey: ["operations", projectId],
    queryFn: ({ pageParam }) =>
      answer(
        client.GET("/api/v1/operations", {
          params: { query: { project_id: projectId, ...pageFrom(pageParam) } },
        }),
      ),
    initialPageParam: "",
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
    select: flat<Operation>,
  });
}

/** Running and past ones of the whole fleet, newest first, staging included; for operators. */
export function useFleetOperations(status: OperationStatus | undefined) {
  return useInfiniteQuery({
    queryKey: ["fleet-operations", status ?? ""],
    queryFn: ({ pageParam }) =>
      answer(
        client.GET("/api/v1/admin/operations", {
          params: { query: { ...(status ? { status } : {}), ...pageFrom(pageParam) } },
        }),
      ),
    initialPageParam: "",
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
    select: flat<Operation>,
    ...WATCHED,
  });
}

/** What was ever done to one thing, newest first; without phases. */
export function useOperationsOf(projectId: string, subjectId: string) {
  return useQuery({
    queryKey: ["operations", projectId, subjectId],
    queryFn: () =>
      everyPage((page) =>
        answer(
          client.GET("/api/v1/operations", {
            params: {
              query: { project_id: projectId, subject_id: subjectId, ...page },
            },
          }),
        ),
      ),
  });
}

/** One operation with its phases and the last that the node said; what happens in it refreshes it. */
export function useOperation(id: string, subjectId = "") {
  return useQuery({
    queryKey: ["operation", id, subjectId],
    queryFn: () => answer(client.GET("/api/v1/operations/{id}", { params: { path: { id } } })),
  });
}
