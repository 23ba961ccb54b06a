// @vitest-environment node
import { expect, test } from "vitest";
import { isOpen } from "./breakGlass";

const NOW = Date.parse("2026-11-16T12:00:00Z");

test("access is open until it is ended or its time is over", () => {
  expect(isOpen({ ended_at: null, expires_at: "2026-11-16T12:00:01Z" }, NOW)).toBe(true);
  expect(isOpen({ ended_at: null, expires_at: "2026-11-16T12:00:00Z" }, NOW)).toBe(false);
  expect(isOpen({ ended_at: "2026-11-16T11:00:00Z", expires_at: "2026-11-16T13:00:00Z" }, NOW)).toBe(false);
});
