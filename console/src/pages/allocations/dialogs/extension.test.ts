import { describe, expect, it } from "vitest";
import { endThen, extension, mistakes, type Wanted } from "./extension";

const NOON = Date.parse("2026-03-01T12:00:00Z");
const NOTHING: Wanted = { end: "keep", hours: "", date: "", time: "", idle: "keep", minutes: "" };

describe("an extension", () => {
  it("leaves out what stays and lifts with null", () => {
    expect(extension(NOTHING)).toEqual({});
    expect(extension({ ...NOTHING, end: "hours", hours: "4" })).toEqual({ hours: 4 });
    expect(extension({ ...NOTHING, end: "never", idle: "never" })).toEqual({ expires_at: null, idle_minutes: null });
    expect(extension({ ...NOTHING, idle: "minutes", minutes: "30" })).toEqual({ idle_minutes: 30 });
  });

  it("says what is wrong before it is sent", () => {
    expect(mistakes(NOTHING, NOON)).toEqual({});
    expect(mistakes({ ...NOTHING, end: "hours", hours: "" }, NOON).end).toContain("hours");
    expect(mistakes({ ...NOTHING, end: "hours", hours: "9000" }, NOON).end).toContain("8760");
    expect(mistakes({ ...NOTHING, end: "at", date: "", time: "" }, NOON).end).toContain("day");
    expect(mistakes({ ...NOTHING, end: "at", date: "2020-01-01", time: "10:00" }, NOON).end).toContain("5 minutes");
    expect(mistakes({ ...NOTHING, idle: "minutes", minutes: "4" }, NOON).idle).toContain("5");
    expect(mistakes({ ...NOTHING, idle: "minutes", minutes: "7.5" }, NOON).idle).toContain("whole");
  });

  it("counts hours from the present end, or from now when there is none or it has passed", () => {
    expect(endThen({ hours: 1 }, "2026-03-01T13:00:00Z", NOON)).toBe(NOON + 7_200_000);
    expect(endThen({ hours: 1 }, null, NOON)).toBe(NOON + 3_600_000);
    expect(endThen({ hours: 1 }, "2026-03-01T11:00:00Z", NOON)).toBe(NOON + 3_600_000);
    expect(endThen({}, "2026-03-01T13:00:00Z", NOON)).toBe(NOON + 3_600_000);
    expect(endThen({ expires_at: null }, "2026-03-01T13:00:00Z", NOON)).toBeNull();
  });
});
