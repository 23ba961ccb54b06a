import { expect, test } from "vitest";
import { AT_A_TIME, momentOf, NO_END } from "./endTime";

const NOON = new Date("2026-03-01T12:00:00Z");

test("no end is null, hours count from now", () => {
  expect(momentOf(NO_END, NOON)).toBeNull();
  expect(momentOf({ ...NO_END, choice: "8h" }, NOON)).toBe("2026-03-01T20:00:00.000Z");
});

test("a time is by the clock of whoever types, and lies ahead", () => {
  const typed = { choice: AT_A_TIME, date: "2026-03-05", time: "09:30" };
  expect(momentOf(typed, NOON)).toBe(new Date(2026, 2, 5, 9, 30).toISOString());
  expect(momentOf({ ...typed, date: "2026-02-01" }, NOON)).toBeUndefined();
  expect(momentOf({ ...typed, date: "" }, NOON)).toBeUndefined();
  expect(momentOf({ ...typed, date: "2026-3" }, NOON)).toBeUndefined();
});
