import type { Metric, Metrics, Point, Series } from "../../../api/queries/metrics";
import { bytes } from "../../../parts/bytes";

interface Kind {
  title: string;
  /** In the order of their lines. */
  metrics: readonly Metric[];
  words: (value: number) => string;
  /** The top of the scale is this at least. */
  top: number;
}

const MIB = 1_048_576;
const count = (value: number) => Number(value.toFixed(value < 10 ? 1 : 0)).toString();

/** Every metric has its place: one that is new on the server does not compile without one. */
const PLACES: Record<Metric, string> = {
  cpu: "cpu",
  memory: "memory",
  gpu_utilisation: "gpu_utilisation",
  gpu_memory: "gpu_memory",
  gpu_temperature: "gpu_temperature",
  disk: "disk",
  disk_free: "disk",
  network_received: "network",
  network_sent: "network",
  processes: "processes",
  ssh_sessions: "ssh_sessions",
};

const KINDS: Record<string, Kind> = {
  cpu: { title: "CPU", metrics: ["cpu"], words: (value) => `${value.toFixed(2)} cores`, top: 0.1 },
  memory: { title: "Memory", metrics: ["memory"], words: bytes, top: MIB },
  gpu_utilisation: {
    title: "GPU use",
    metrics: ["gpu_utilisation"],
    words: (value) => `${Math.round(value)} %`,
    top: 100,
  },
  gpu_memory: { title: "GPU memory", metrics: ["gpu_memory"], words: bytes, top: MIB },
  gpu_temperature: {
    title: "GPU temperature",
    metrics: ["gpu_temperature"],
    words: (value) => `${Math.round(value)} °C`,
    top: 100,
  },
  disk: { title: "Disk", metrics: ["disk", "disk_free"], words: bytes, top: MIB },
  network: {
    title: "Network",
    metrics: ["network_received", "network_sent"],
    words: (value) => `${bytes(value)}/s`,
    top: 1_024,
  },
  processes: { title: "Processes", metrics: ["processes"], words: count, top: 4 },
  ssh_sessions: { title: "SSH sessions", metrics: ["ssh_sessions"], words: count, top: 2 },
};

const NAMES: Partial<Record<Metric, string>> = {
  disk: "used",
  disk_free: "free",
  network_received: "received",
  network_sent: "sent",
};

export interface Line {
  name: string;
  series: Series;
}

export interface Chart {
  id: string;
  title: string;
  words: (value: number) => string;
  /** What is drawn. */
  lines: Line[];
  /** What is told beside, in words: a disk's free space would dwarf what is used. */
  beside: Line[];
  top: number;
}

/** Charts in the order people look, with the series each is made of; what a machine was never asked for is not there. */
export function chartsOf({ series }: Metrics): Chart[] {
  return Object.entries(KINDS).flatMap(([id, kind]) => {
    const mine = series
      .filter(({ metric, device }) => PLACES[metric] === id && !(metric === "disk_free" && device)) // of volumes: in health
      .sort(
        (a, b) =>
          kind.metrics.indexOf(a.metric) - kind.metrics.indexOf(b.metric) || Number(a.device) - Number(b.device),
      );
    if (mine.length === 0) return [];
    const lines = mine.map((each) => ({ name: nameOf(each), series: each }));
    const drawn = lines.filter(({ series: { metric } }) => metric !== "disk_free");
    const highest = Math.max(kind.top, ...drawn.flatMap(({ series: { points } }) => points.map(({ high }) => high)));
    return [
      {
        id,
        title: kind.title,
        words: kind.words,
        lines: drawn,
        beside: lines.filter((line) => !drawn.includes(line)),
        top: highest === kind.top ? highest : highest * 1.1,
      },
    ];
  });
}

/** What cannot be known, each reason once with what it is about. */
export function unmeasured(charts: readonly Chart[]): { why: string; titles: string[] }[] {
  const found = new Map<string, string[]>();
  for (const { title, lines } of charts) {
    for (const why of new Set(lines.map(({ series }) => `${series.unavailable} (${series.source})`))) {
      found.set(why, [...(found.get(why) ?? []), title]);
    }
  }
  return [...found].map(([why, titles]) => ({ why, titles }));
}

/** Whether there is anything to show of it, now or from before. */
export function isMeasured({ lines }: Chart): boolean {
  return lines.some(({ series }) => series.latest !== null || series.points.length > 0);
}

const SHORTEST_MS = 300_000;

/** The whole range, or for a machine that is younger what there is of it. */
export function framed({ series, sampled_at, age_seconds }: Metrics, rangeSeconds: number): Omit<Frame, "top"> {
  const end = Date.parse(sampled_at ?? new Date().toISOString()) + (age_seconds ?? 0) * 1_000;
  const firsts = series.flatMap(({ points }) => (points[0] ? [Date.parse(points[0].at)] : []));
  return { start: Math.max(end - rangeSeconds * 1_000, Math.min(end - SHORTEST_MS, ...firsts)), end };
}

function nameOf({ metric, device }: Series): string {
  if (device !== "") return `GPU ${device}`;
  return NAMES[metric] ?? "";
}

export interface Frame {
  /** Times in milliseconds, by the server's clock. */
  start: number;
  end: number;
  top: number;
}

export const WIDTH = 600;
export const HEIGHT = 120;
const GAP_STEPS = 2.5; // a hole in what was measured stays a hole

/** The path of a line in a box of WIDTH by HEIGHT; broken where nothing was measured. */
export function pathOf(points: readonly Point[], { start, end, top }: Frame, stepSeconds: number): string {
  let before = Number.NEGATIVE_INFINITY;
  const words: string[] = [];
  for (const { at, value } of points) {
    const time = Date.parse(at);
    if (time < start) continue;
    const x = ((time - start) / (end - start)) * WIDTH;
    const y = HEIGHT - (value / top) * HEIGHT;
    words.push(`${time - before > GAP_STEPS * stepSeconds * 1_000 ? "M" : "L"}${x.toFixed(1)} ${y.toFixed(1)}`);
    before = time;
  }
  return words.join("");
}

/** The point nearest to a place in the chart, if there is one close by. */
export function nearest(points: readonly Point[], time: number, stepSeconds: number): Point | null {
  let found: Point | null = null;
  let distance = GAP_STEPS * stepSeconds * 1_000;
  for (const point of points) {
    const away = Math.abs(Date.parse(point.at) - time);
    if (away <= distance) [found, distance] = [point, away];
  }
  return found;
}

/** "lowest 0.1 cores, highest 2 cores" of what is drawn; nothing where nothing was measured. */
export function rangeOf(points: readonly Point[], words: (value: number) => string): string {
  if (points.length === 0) return "";
  const low = Math.min(...points.map((point) => point.low));
  const high = Math.max(...points.map((point) => point.high));
  return `lowest ${words(low)}, highest ${words(high)}`;
}
