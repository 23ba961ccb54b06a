// @vitest-environment node
import { expect, test } from "vitest";
import { kindWords, placeOf } from "./words";

test("what is known has its words, what is new its own", () => {
  expect(kindWords("create")).toBe("Launch");
  expect(kindWords("volume.re_key")).toBe("Volume re key");
});

test("a subject leads to its page, if it has one", () => {
  expect(placeOf("p", "allocation", "a")).toBe("/projects/p/allocations/a");
  expect(placeOf("p", "terminal", "t")).toBeNull();
});
