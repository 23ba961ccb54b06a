import type { QueryClient } from "@tanstack/react-query";
import { type Entry, Live } from "./live";
import { refreshAllocation } from "./queries/allocations";
import { addToTimeline } from "./queries/timeline";

/** The rows come first, they are what is looked at; a burst then costs the rest of the page one drawing. */
const AFTER_ROWS_MS = 100;

/** What is shown follows what happens: an entry of the timeline says which queries to ask again. */
export function follow(queries: QueryClient, projectId: string): () => void {
  const refresh = onceAtATime(
    (id) => refreshAllocation(queries, projectId, id).catch(() => undefined), // the view says it is stale
  );
  const told: Entry[] = [];
  const tell = (): void => {
    const entries = told.splice(0);
    addToTimeline(queries, projectId, entries);
    // Everything that is about one thing has its id in its key: its timeline, its grants, its attachments.
    void queries.invalidateQueries({ predicate: ({ queryKey }) => entries.some((entry) => isAbout(queryKey, entry)) });
  };
  const onEntry = (entry: Entry): void => {
    if (entry.subject_kind === "allocation") void refresh(entry.subject_id);
    if (told.push(entry) === 1) setTimeout(tell, AFTER_ROWS_MS);
  };
  const live = new Live(projectId, onEntry, () => void queries.invalidateQueries());
  return () => live.close();
}

/** Entries come in bursts: one look at a thing at a time, and whatever came during it is seen by one more. */
export function onceAtATime(look: (id: string) => Promise<void>): (id: string) => Promise<void> {
  const looking = new Map<string, { isDue: boolean; done: Promise<void> }>();
  return (id) => {
    const under = looking.get(id);
    if (under !== undefined) {
      under.isDue = true;
      return under.done;
    }
    const mine = { isDue: true, done: Promise.resolve() };
    looking.set(id, mine);
    mine.done = (async () => {
      while (mine.isDue) {
        mine.isDue = false;
        await look(id);
      }
      looking.delete(id);
    })();
    return mine.done;
  };
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
