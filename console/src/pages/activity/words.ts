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

interface Audited {
  target_kind: string;
  target_id: string;
  facts?: Record<string, unknown>;
}

export interface Target {
  text: string;
  place: string | null;
}

/** What an audit row is about, by name: the thing itself, the person it was about, or the request that was refused. */
export function targetOf(
  { target_kind, target_id, facts = {} }: Audited,
  projectId: string,
  nameOf: (id: string) => string,
): Target {
  const text = (name: string) => (typeof facts[name] === "string" ? nameOf(facts[name]) : "");
  if (target_kind === "project") {
    return { text: text("email") || text("user") || "the project", place: `/projects/${projectId}/members` };
  }
  if (target_kind === "route") {
    const named = target_id
      .replace("/api/v1", "")
      .replaceAll(/\b[a-z]+_[0-9a-z]{26}\b/g, (id) => (id === projectId ? "this" : nameOf(id)));
    return { text: named, place: null };
  }
  const machine = facts["allocation"] ?? facts["allocation_id"];
  if (typeof machine === "string" && target_kind !== "volume") {
    const whose = text("user");
    return {
      text: whose ? `${nameOf(machine)}, ${whose}` : nameOf(machine),
      place: placeOf(projectId, "allocation", machine),
    };
  }
  const name = nameOf(target_id);
  return {
    text: name === target_id ? target_kind.replaceAll("_", " ") : name,
    place: placeOf(projectId, target_kind, target_id),
  };
}

/** A target outside a project: by its kind and id. */
export function plainTarget({ target_kind, target_id }: Audited): Target {
  if (target_kind === "route") return { text: target_id.replace("/api/v1", ""), place: null };
  return { text: `${target_kind.replaceAll("_", " ")} ${target_id}`, place: null };
}

/** Where a subject is shown; null for what has no page. */
export function placeOf(projectId: string, kind: string, id: string): string | null {
  const place = PLACES[kind];
  if (place) return `/projects/${projectId}/${place}/${id}`;
  return kind === "project" ? `/projects/${projectId}/members` : null;
}
