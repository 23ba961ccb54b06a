import { describe, expect, it } from "vitest";
import { type Care, canForceCleanup, canForceRelease, careFor, pressing } from "./stuck";

const NOON = Date.parse("2026-01-01T12:00:00Z");
const at = (seconds: number) => new Date(NOON - seconds * 1_000).toISOString();

describe("who has to care", () => {
  it("is a person for what failed, however fresh", () => {
    for (const status of ["release_failed", "restart_failed", "failed"] as const) {
      expect(careFor({ status, last_progress_at: at(1) }, NOON)).toBe("person");
    }
  });

  it("is nobody yet while there is progress, and perhaps a person when there is none", () => {
    expect(careFor({ status: "provisioning", last_progress_at: at(119) }, NOON)).toBe("on its way");
    expect(careFor({ status: "provisioning", last_progress_at: at(121) }, NOON)).toBe("late");
  });

  it("orders by need, then by age", () => {
    const rows = [
      { name: "young", care: "person" as Care, status_since: at(5) },
      { name: "way", care: "on its way" as Care, status_since: at(500) },
      { name: "old", care: "person" as Care, status_since: at(50) },
      { name: "late", care: "late" as Care, status_since: at(300) },
    ];
    expect(pressing(rows).map(({ name }) => name)).toEqual(["old", "young", "late", "way"]);
  });
});

describe("what can be forced", () => {
  it("is a release while it lives, and a cleanup once it should be gone", () => {
    expect(canForceRelease({ status: "active" })).toBe(true);
    expect(canForceRelease({ status: "release_failed" })).toBe(true);
    expect(canForceRelease({ status: "failed" })).toBe(false);
    expect(canForceCleanup({ status: "failed", cleanup_proven: false })).toBe(true);
    expect(canForceCleanup({ status: "failed", cleanup_proven: true })).toBe(false);
    expect(canForceCleanup({ status: "active", cleanup_proven: false })).toBe(false);
  });
});
