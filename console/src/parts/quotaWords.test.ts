import { describe, expect, it } from "vitest";
import type { QuotaLine } from "../api/queries/quotas";
import { amount, exceeded, readLimit, remainingWords, typedLimit } from "./quotaWords";

const line = (dimension: QuotaLine["dimension"], limit: number | null, used: number): QuotaLine => ({
  dimension,
  limit,
  used,
  remaining: limit === null ? null : limit - used,
  limited_by: limit === null ? null : "project",
});
const ADD = { machines: 2, gpus: 4, vcpus: 8, memoryMib: 8_192, newVolumes: 0, newGib: 0 };

describe("a launch against a quota", () => {
  it("names each limit that it would exceed, with what is needed and what remains", () => {
    const lines = [line("allocations", 10, 8), line("gpus", 8, 5), line("memory_mib", 16_384, 12_288)];
    expect(exceeded(lines, ADD)).toEqual([
      "GPUs: this needs 4, and 3 of 8 remain.",
      "Memory: this needs 8 GiB, and 4 GiB of 16 GiB remain.",
    ]);
  });

  it("fits exactly what remains, and where there is no limit", () => {
    expect(exceeded([line("gpus", 8, 4), line("vcpus", null, 900)], ADD)).toEqual([]);
  });
});

it("shows memory in GiB, and no limit as words", () => {
  expect(amount("memory_mib", 1_536)).toBe("1.5 GiB");
  expect(amount("gpus", null)).toBe("No limit");
});

it("names what remains of the limits that exist", () => {
  const lines = [line("gpus", 8, 5), line("memory_mib", 16_384, 12_288), line("vcpus", null, 3), line("volumes", 2, 3)];
  expect(remainingWords(lines, ["gpus", "vcpus", "memory_mib", "volumes", "snapshots"])).toBe(
    "GPUs 3 of 8, Memory 4 GiB of 16 GiB, Volumes 0 of 2",
  );
});

it("reads a limit as it was typed, and refuses what is no number", () => {
  expect(typedLimit({ dimension: "memory_mib", limit: 1_536 })).toBe("1.5");
  expect(readLimit("memory_mib", "1.5")).toBe(1_536);
  expect(readLimit("gpus", " ")).toBeNull();
  expect([readLimit("gpus", "1.5"), readLimit("gpus", "-1"), readLimit("gpus", "many")]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});
