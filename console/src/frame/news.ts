import type { Entry } from "../api/live";
import { Store } from "./store";

export type Tone = "success" | "error" | "warning" | "info";

/** An entry of the timeline that a person waits for, in words. */
export interface News {
  id: number;
  at: string;
  actor: string;
  tone: Tone;
  text: string;
  note: string;
  href: string;
}

type Names = ReadonlyMap<string, string>;

const OF_MACHINES: Record<string, readonly [Tone, string]> = {
  active: ["success", "is active"],
  failed: ["error", "failed"],
  restart_failed: ["error", "did not come back from its restart"],
  release_failed: ["error", "could not be released"],
  released: ["info", "is released"],
  resized: ["success", "has its new size"],
  expiry_near: ["warning", "ends soon"],
  idle: ["warning", "is idle and will end soon"],
  billing_paused: ["warning", "does not answer; it costs nothing meanwhile"],
  billing_resumed: ["success", "answers again"],
  cleanup_blocked: ["warning", "is not cleaned up yet"],
  keys_changed: ["info", "opens to other keys"],
  handed_over: ["info", "was handed over"],
  access_asked: ["info", "is asked for"],
  access_awaiting_key: ["warning", "is shared, and waits for a key"],
  access_active: ["success", "is shared"],
  access_revoked: ["info", "is no longer shared with somebody"],
  access_ended: ["info", "is no longer shared with somebody"],
  volume_attached: ["success", "has a volume attached"],
  volume_detached: ["info", "has a volume less"],
  volume_failed: ["error", "could not attach a volume"],
  volume_detach_failed: ["error", "could not let go of a volume"],
  runtime_applied: ["success", "has its runtime"],
  runtime_failed: ["error", "could not apply its runtime"],
};

const OF_VOLUMES: Record<string, readonly [Tone, string]> = {
  volume_available: ["success", "is ready"],
  volume_failed: ["error", "could not be made"],
  volume_delete_failed: ["error", "could not be deleted"],
  volume_deleted: ["info", "is deleted"],
  snapshot_ready: ["success", "has a snapshot"],
  snapshot_failed: ["error", "could not be snapshotted"],
};

const SUBJECTS: Record<string, { words: typeof OF_MACHINES; place: string; unnamed: string }> = {
  allocation: { words: OF_MACHINES, place: "allocations", unnamed: "A machine" },
  volume: { words: OF_VOLUMES, place: "volumes", unnamed: "A volume" },
};

/** What of it is news; the steps in between are for the timeline of the thing itself. */
export function newsOf(entries: readonly Entry[], names: Names): News[] {
  return entries.flatMap((entry) => {
    const subject = SUBJECTS[entry.subject_kind];
    const words = subject?.words[entry.phase];
    if (subject === undefined || words === undefined) return [];
    const name = names.get(entry.subject_id) ?? subject.unnamed;
    return {
      id: entry.id,
      at: entry.at,
      actor: entry.actor,
      tone: words[0],
      text: `${name} ${words[1]}`,
      note: entry.note,
      href: `/projects/${entry.project_id}/${subject.place}/${entry.subject_id}`,
    };
  });
}

/** What one did oneself is no news to one. */
export function unread(news: readonly News[], seenUpTo: number, userId: string): News[] {
  return news.filter(({ id, actor }) => id > seenUpTo && actor !== userId);
}

export interface Seen {
  upTo: number;
  /** As it was when the list was last opened: what came since is marked in it. */
  before: number;
}

const KEPT = "gpuaas-seen-news";

/** By project; kept in this browser. */
export const seen = new Store<Readonly<Record<string, Seen>>>(read());

function read(): Record<string, Seen> {
  try {
    return JSON.parse(localStorage.getItem(KEPT) ?? "{}") as Record<string, Seen>;
  } catch {
    return {};
  }
}

/** Of projects that nobody has opened the list of yet. */
const firsts: Record<string, Seen> = {};

function keep(all: Readonly<Record<string, Seen>>): void {
  localStorage.setItem(KEPT, JSON.stringify(all));
}

export function markSeen(projectId: string, upTo: number): void {
  const before = (seen.get()[projectId] ?? firsts[projectId])?.upTo ?? upTo;
  seen.set({ ...seen.get(), [projectId]: { upTo, before } });
  keep(seen.get());
}

/** What was seen of a project; who comes to it for the first time has nothing to catch up with. */
export function seenOf(all: Readonly<Record<string, Seen>>, projectId: string, newest: number): Seen {
  const known = all[projectId] ?? firsts[projectId];
  if (known) return known;
  const first = { upTo: newest, before: newest };
  firsts[projectId] = first;
  keep({ ...all, ...firsts });
  return first;
}
