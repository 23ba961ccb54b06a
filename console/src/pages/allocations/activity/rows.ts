import type { Entry } from "../../../api/live";
import { phaseWords } from "../../../parts/bars";

export interface TimelineRow {
  entry: Entry;
  /** Seconds until the next entry of its operation; null for what lasts no time, or lasts still. */
  took: number | null;
  /** The day, on the first row of each. */
  day: string | undefined;
  time: string;
}

const DAY = new Intl.DateTimeFormat(undefined, { weekday: "long", day: "numeric", month: "long", year: "numeric" });
const TIME = new Intl.DateTimeFormat(undefined, {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  hourCycle: "h23",
});

/** Rows of those entries that say the text somewhere; newest first, as the entries are. */
export function rowsOf(entries: readonly Entry[], text: string): TimelineRow[] {
  const wanted = text.trim().toLowerCase();
  const nextAt = new Map<string, number>(); // of each operation, when its following entry came
  const rows: TimelineRow[] = [];
  let day: string | undefined;
  for (const entry of entries) {
    const at = Date.parse(entry.at);
    const next = entry.operation_id === null ? undefined : nextAt.get(entry.operation_id);
    if (entry.operation_id !== null) nextAt.set(entry.operation_id, at);
    if (wanted && !says(entry, wanted)) continue;
    const took = entry.outcome === "began" && next !== undefined && next > at ? (next - at) / 1_000 : null;
    const date = DAY.format(at);
    rows.push(rowOf(entry, took, date === day ? undefined : date, at));
    day = date;
  }
  return rows;
}

const known = new WeakMap<Entry, TimelineRow>();

/** The same entry is the same row, so that a new entry draws no other again. */
function rowOf(entry: Entry, took: number | null, day: string | undefined, at: number): TimelineRow {
  const before = known.get(entry);
  if (before && before.took === took && before.day === day) return before;
  const row = { entry, took, day, time: TIME.format(at) };
  known.set(entry, row);
  return row;
}

function says(entry: Entry, wanted: string): boolean {
  const said = [
    phaseWords(entry.phase),
    entry.note,
    entry.actor_name,
    entry.outcome,
    JSON.stringify(entry.evidence ?? {}),
  ];
  return said.some((words) => words.toLowerCase().includes(wanted));
}
