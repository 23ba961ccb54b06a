import { useSyncExternalStore } from "react";

/** One clock for all ages on the page. */
let now = Date.now();
const readers = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | null = null;

function subscribe(reader: () => void): () => void {
  readers.add(reader);
  if (timer === null) {
    now = Date.now(); // it stood still while nobody read it
    timer = setInterval(() => {
      now = Date.now();
      for (const each of readers) each();
    }, 1_000);
  }
  return () => {
    readers.delete(reader);
    if (readers.size === 0 && timer !== null) {
      clearInterval(timer);
      timer = null;
    }
  };
}

export function useNow(): number {
  return useSyncExternalStore(subscribe, () => now);
}

/** A time in words that are kept true while they are looked at, and drawn again only when they change; exact on hover. */
function Told({ at, words }: { at: string; words: (seconds: number) => string }) {
  const told = useSyncExternalStore(subscribe, () => words(Math.floor((now - Date.parse(at)) / 1_000)));
  return (
    <time dateTime={at} title={new Date(at).toLocaleString()}>
      {told}
    </time>
  );
}

/** How long ago; after a minute nobody counts seconds, and a table would be laid out again with each. */
export function Ago({ at }: { at: string }) {
  return <Told at={at} words={ago} />;
}

function ago(seconds: number): string {
  if (seconds < 3) return "just now";
  return `${duration(seconds < 60 ? seconds : seconds - (seconds % 60))} ago`;
}

/** How long it has lasted: "for 2 h 5 min". */
export function For({ since }: { since: string }) {
  return <Told at={since} words={(seconds) => `for ${duration(Math.max(0, seconds))}`} />;
}

/** How long until. */
export function Until({ at }: { at: string }) {
  return <Told at={at} words={(ago) => (ago >= 0 ? "now" : `in ${duration(-ago)}`)} />;
}

const UNITS: [number, string][] = [
  [86_400, "d"],
  [3_600, "h"],
  [60, "min"],
  [1, "s"],
];

/** The two largest units: "2 h 5 min", "40 s". */
export function duration(seconds: number): string {
  const parts: string[] = [];
  let left = Math.round(seconds);
  for (const [size, unit] of UNITS) {
    const count = Math.floor(left / size);
    if (count > 0 && parts.length < 2) parts.push(`${count} ${unit}`);
    else if (parts.length > 0) break;
    left -= count * size;
  }
  return parts.join(" ") || "0 s";
}

/** Phases are short: "12 ms", "0.43 s", "2 min 3 s". */
export function shortDuration(seconds: number): string {
  if (seconds < 0.1) return `${Math.round(seconds * 1_000)} ms`;
  if (seconds < 10) return `${seconds.toFixed(2)} s`;
  return duration(seconds);
}
