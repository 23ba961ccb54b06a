import { describe, expect, it } from "vitest";
import type { Entry } from "../../../api/live";
import { rowsOf } from "./rows";

function entry(id: number, phase: string, at: string, facts: Partial<Entry> = {}): Entry {
  return {
    id,
    phase,
    at,
    outcome: "began",
    operation_id: "op_1",
    subject_kind: "allocation",
    subject_id: "alloc_1",
    project_id: "proj_1",
    actor: "system",
    actor_name: "system",
    note: "",
    evidence: {},
    ...facts,
  };
}

const ENTRIES = [
  entry(4, "active", "2026-03-02T12:00:04Z", { outcome: "done" }),
  entry(3, "grant_made", "2026-03-02T12:00:02.500Z", {
    operation_id: null,
    outcome: "done",
    actor_name: "ada@example.com",
  }),
  entry(2, "provisioning", "2026-03-02T12:00:01Z"),
  entry(1, "requested", "2026-02-20T12:00:00Z", { note: "for the Night run" }),
];

describe("rows of a timeline", () => {
  it("tell how long a phase lasted until the next entry of its operation", () => {
    expect(rowsOf(ENTRIES, "").map(({ took }) => took)).toEqual([null, null, 3, 864_001]);
  });

  it("name the day on its first row alone", () => {
    expect(rowsOf(ENTRIES, "").map(({ day }) => day !== undefined)).toEqual([true, false, false, true]);
  });

  it("are found by what any part of them says", () => {
    expect(rowsOf(ENTRIES, "night").map(({ entry: { id } }) => id)).toEqual([1]);
    expect(rowsOf(ENTRIES, "ADA@").map(({ entry: { id } }) => id)).toEqual([3]);
    expect(rowsOf(ENTRIES, "grant made").map(({ entry: { id } }) => id)).toEqual([3]);
  });

  it("know how long a phase lasted though its follower is filtered out", () => {
    expect(rowsOf(ENTRIES, "provisioning")[0]?.took).toBe(3);
  });
});
