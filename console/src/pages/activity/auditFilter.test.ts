// @vitest-environment node
import { expect, test } from "vitest";
import { readFilter, writeFilter } from "./auditFilter";

test("what is written to the address is read back", () => {
  const filter = {
    actor: "user_1",
    action: "volume",
    target: "vol_1",
    result: "denied",
    since: "2026-11-16T00:00:00.000Z",
  } as const;
  expect(readFilter(writeFilter(filter))).toEqual(filter);
});

test("what is not a result or a time is left out", () => {
  expect(readFilter(new URLSearchParams("result=perhaps&since=yesterday&actor="))).toEqual({});
});
