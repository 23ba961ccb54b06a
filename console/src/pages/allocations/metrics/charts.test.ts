import { expect, test } from "vitest";
import type { Metric, Metrics, Point, Series } from "../../../api/queries/metrics";
import { chartsOf, framed, HEIGHT, isMeasured, nearest, pathOf, rangeOf, unmeasured, WIDTH } from "./charts";

const START = Date.parse("2026-01-01T00:00:00Z");
const point = (seconds: number, value: number): Point => ({
  at: new Date(START + seconds * 1_000).toISOString(),
  value,
  low: value,
  high: value,
});
const series = (metric: Metric, device = "", points: Point[] = []): Series => ({
  metric,
  device,
  points,
  unit: "",
  source: "test",
  latest: null,
  latest_at: null,
  age_seconds: null,
  unavailable: "",
});
const metrics = (...all: Series[]): Metrics => ({
  allocation_id: "a",
  range: "1h",
  step_seconds: 10,
  sampled_at: null,
  age_seconds: null,
  unavailable: "",
  series: all,
});
const frame = { start: START, end: START + 100_000, top: 10 };

test("charts stand in the order people look, with GPUs by number", () => {
  const charts = chartsOf(
    metrics(
      series("network_sent"),
      series("gpu_memory", "10"),
      series("gpu_memory", "2"),
      series("network_received"),
      series("cpu"),
    ),
  );
  expect(charts.map(({ id }) => id)).toEqual(["cpu", "gpu_memory", "network"]);
  expect(charts.map(({ lines }) => lines.map(({ name }) => name))).toEqual([
    [""],
    ["GPU 2", "GPU 10"],
    ["received", "sent"],
  ]);
});

test("free space of a disk is told, not drawn", () => {
  const [disk] = chartsOf(metrics(series("disk"), series("disk_free", "", [point(0, 1e12)])));
  expect([disk?.lines.length, disk?.beside.map(({ name }) => name), (disk?.top ?? 0) < 1e9]).toEqual([
    1,
    ["free"],
    true,
  ]);
});

test("a line is broken where nothing was measured", () => {
  const path = pathOf([point(-10, 1), point(0, 0), point(10, 5), point(60, 10), point(70, 10)], frame, 10);
  expect(path).toBe(`M0.0 ${HEIGHT}.0L${WIDTH / 10}.0 ${HEIGHT / 2}.0M${WIDTH * 0.6}.0 0.0L${WIDTH * 0.7}.0 0.0`);
});

test("the nearest point is told, and none across a hole", () => {
  const points = [point(0, 1), point(10, 2), point(80, 3)];
  expect(nearest(points, START + 6_000, 10)?.value).toBe(2);
  expect(nearest(points, START + 45_000, 10)).toBeNull();
});

test("the range speaks of what was measured alone", () => {
  expect(rangeOf([], String)).toBe("");
  expect(rangeOf([point(0, 2), point(10, 7)], String)).toBe("lowest 2, highest 7");
});

test("what cannot be known is told once for each reason", () => {
  const simulated = { ...series("gpu_memory", "0"), unavailable: "simulated GPU", source: "simulated" };
  const charts = chartsOf(
    metrics(
      simulated,
      { ...simulated, device: "1" },
      { ...simulated, metric: "gpu_utilisation" },
      series("cpu", "", [point(0, 1)]),
    ),
  );
  expect(charts.map(isMeasured)).toEqual([true, false, false]);
  expect(unmeasured(charts.filter((chart) => !isMeasured(chart)))).toEqual([
    { why: "simulated GPU (simulated)", titles: ["GPU use", "GPU memory"] },
  ]);
});

test("a young machine is shown from its beginning, five minutes at least", () => {
  const sampled = { ...metrics(series("cpu", "", [point(0, 1)])), age_seconds: 10 };
  const at = (seconds: number) => new Date(START + seconds * 1_000).toISOString();
  expect(framed({ ...sampled, sampled_at: at(1_190) }, 3_600)).toEqual({ start: START, end: START + 1_200_000 });
  expect(framed({ ...sampled, sampled_at: at(50) }, 3_600).start).toBe(START - 240_000);
  expect(framed({ ...sampled, sampled_at: at(86_390) }, 3_600).start).toBe(START + 82_800_000);
});
