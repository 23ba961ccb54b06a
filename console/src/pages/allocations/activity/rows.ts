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
    rows.push({ entry, took, day: date === day ? undefined : date, time: TIME.format(at) });
    day = date;
  }
  return rows;
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
