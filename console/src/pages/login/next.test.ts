// @vitest-environment node
import { expect, test } from "vitest";
import { safeNext, secondsToWait } from "./next";

test.each([
  ["/projects/p/allocations?a=1", "/projects/p/allocations?a=1"],
  ["/login-help", "/login-help"],
  [null, "/"],
  ["", "/"],
  ["https://evil.example", "/"],
  ["//evil.example", "/"],
  ["/\\evil.example", "/"],
  ["javascript:alert(1)", "/"],
  ["/login?next=/login", "/"],
])("after signing in one goes from %s to %s", (next, gone) => {
  expect(safeNext(next)).toBe(gone);
});

test("a refusal for too many tries counts down to nothing", () => {
  expect(secondsToWait(null, 0, 9_000)).toBe(0);
  expect(secondsToWait(30, 1_000, 1_000)).toBe(30);
  expect(secondsToWait(30, 1_000, 1_500)).toBe(30);
  expect(secondsToWait(30, 1_000, 2_001)).toBe(29);
  expect(secondsToWait(30, 1_000, 99_000)).toBe(0);
});
