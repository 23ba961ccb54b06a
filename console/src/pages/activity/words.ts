/** What was asked for, as a person would say it. */
const KINDS: Record<string, string> = {
  create: "Launch",
  restart: "Restart",
  resize: "Resize",
  release: "Release",
  attach: "Attach a volume",
  detach: "Detach a volume",
  end_session: "End a session",
  runtime_apply: "Apply a runtime",
  runtime_clear: "Clear the runtime",
  "volume.create": "Create a volume",
  "volume.delete": "Delete a volume",
  "snapshot.create": "Take a snapshot",
  "snapshot.delete": "Delete a snapshot",
};

/** A kind that is not known here yet is shown as its own words. */
export function kindWords(kind: string): string {
  const known = KINDS[kind];
  if (known) return known;
  const words = kind.replaceAll(/[._]/g, " ").trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

const PLACES: Record<string, string> = { allocation: "allocations", volume: "volumes" };

/** Where a subject is shown; null for what has no page. */
export function placeOf(projectId: string, kind: string, id: string): string | null {
  const place = PLACES[kind];
  if (place) return `/projects/${projectId}/${place}/${id}`;
  return kind === "project" ? `/projects/${projectId}/members` : null;
}
