import type { Extension } from "../../../api/queries/allocations";

/** What is typed into the form; numbers as text, as they are typed. */
export interface Wanted {
  end: "keep" | "hours" | "at" | "never";
  hours: string;
  date: string;
  time: string;
  idle: "keep" | "minutes" | "never";
  minutes: string;
}

const FEWEST_IDLE_MINUTES = 5;
const MOST_IDLE_MINUTES = 43_200;
const MOST_HOURS = 8_760;
const SHORTEST_MS = 5 * 60_000;
const HOUR_MS = 3_600_000;

export interface Mistakes {
  end?: string;
  idle?: string;
}

/** What is wrong with it, field by field; nothing when it can be asked for. */
export function mistakes(wanted: Wanted, now: number): Mistakes {
  const found: Mistakes = {};
  const hours = Number(wanted.hours);
  if (wanted.end === "hours" && !(hours > 0 && hours <= MOST_HOURS)) {
    found.end = `Give a number of hours up to ${MOST_HOURS}.`;
  }
  if (wanted.end === "at") {
    const at = Date.parse(`${wanted.date}T${wanted.time || "00:00"}`);
    if (Number.isNaN(at)) found.end = "Give a day and a time.";
    else if (at - now < SHORTEST_MS)
      found.end = "The end must be at least 5 minutes away, so that people can be warned.";
  }
  const minutes = Number(wanted.minutes);
  const isWhole = Number.isInteger(minutes) && minutes >= FEWEST_IDLE_MINUTES && minutes <= MOST_IDLE_MINUTES;
  if (wanted.idle === "minutes" && !isWhole) {
    found.idle = `Give whole minutes from ${FEWEST_IDLE_MINUTES} to ${MOST_IDLE_MINUTES}.`;
  }
  return found;
}

/** As it is asked for: what is left out stays as it is, null lifts a limit. */
export function extension({ end, hours, date, time, idle, minutes }: Wanted): Extension {
  return {
    ...(end === "hours" ? { hours: Number(hours) } : {}),
    ...(end === "at" ? { expires_at: new Date(`${date}T${time || "00:00"}`).toISOString() } : {}),
    ...(end === "never" ? { expires_at: null } : {}),
    ...(idle === "minutes" ? { idle_minutes: Number(minutes) } : {}),
    ...(idle === "never" ? { idle_minutes: null } : {}),
  };
}

/** When it would end then; null for never. Hours count from the present end, or from now. */
export function endThen(asked: Extension, presentEnd: string | null, now: number): number | null {
  const present = presentEnd === null ? null : Date.parse(presentEnd);
  if (asked.hours !== undefined) return Math.max(now, present ?? now) + asked.hours * HOUR_MS;
  if (asked.expires_at === undefined) return present;
  return asked.expires_at === null ? null : Date.parse(asked.expires_at);
}
