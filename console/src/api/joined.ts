import type { Entry } from "./live";

/** What is known of a timeline, newest first: without gaps from the newest entry to where `older` goes on. */
export interface Timeline {
  entries: readonly Entry[];
  older: string | null;
}

interface Page {
  items: Entry[];
  next_cursor?: string | null;
}

/** The newest page before what is known; if they do not meet, what is known is let go of rather than shown with a gap. */
export function joined({ items, next_cursor }: Page, known: Timeline): Timeline {
  const newest = known.entries[0];
  const meets = newest === undefined ? -1 : items.findIndex(({ id }) => id <= newest.id);
  if (meets === -1) return { entries: items, older: next_cursor ?? null };
  if (meets === 0) return known;
  return { ...known, entries: [...items.slice(0, meets), ...known.entries] };
}
