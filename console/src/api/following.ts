import type { QueryClient } from "@tanstack/react-query";
import { type Entry, Live } from "./live";
import { refreshAllocation } from "./queries/allocations";
import { addToTimeline } from "./queries/timeline";

/** What is shown follows what happens: an entry of the timeline says which queries to ask again. */
export function follow(queries: QueryClient, projectId: string): () => void {
  const due = new Set<string>();
  const refresh = (id: string): void => {
    if (due.has(id)) return; // entries come in bursts; one look after them sees all
    due.add(id);
    queueMicrotask(() => {
      due.delete(id);
      refreshAllocation(queries, projectId, id).catch(() => undefined); // the view says it is stale
    });
  };
  const onEntry = (entry: Entry): void => {
    if (entry.subject_kind === "allocation") refresh(entry.subject_id);
    addToTimeline(queries, projectId, entry);
    // Everything that is about one thing has its id in its key: its timeline, its grants, its attachments.
    void queries.invalidateQueries({ predicate: ({ queryKey }) => isAbout(queryKey, entry) });
  };
  const live = new Live(projectId, onEntry, () => void queries.invalidateQueries());
  return () => live.close();
}

/** Lists of a project's things are keyed `[plural of the subject's kind, project id]`; details carry the subject's id. */
export function isAbout(key: readonly unknown[], entry: Entry): boolean {
  const [noun] = key;
  if (noun === "allocation" || noun === "allocations") return false; // refreshed row by row
  if (key.includes(entry.subject_id)) return true;
  // Attaching is told of the machine, and changes the volume that the evidence names.
  if (noun === "volume" && key.includes(entry.evidence?.volume_id)) return true;
  if (noun === "volumes" && entry.phase.startsWith("volume_")) return key.includes(entry.project_id);
  if (noun === "operations" && entry.operation_id !== null) return key.includes(entry.project_id);
  if (noun === "operation") return key.includes(entry.operation_id);
  return noun === `${entry.subject_kind}s` && key.includes(entry.project_id);
}
