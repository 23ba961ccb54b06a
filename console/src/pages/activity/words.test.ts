// @vitest-environment node
import { expect, test } from "vitest";
import { kindWords, placeOf, targetOf } from "./words";

test("what is known has its words, what is new its own", () => {
  expect(kindWords("create")).toBe("Launch");
  expect(kindWords("volume.re_key")).toBe("Volume re key");
});

test("a subject leads to its page, if it has one", () => {
  expect(placeOf("p", "allocation", "a")).toBe("/projects/p/allocations/a");
  expect(placeOf("p", "terminal", "t")).toBeNull();
});

const names: Record<string, string> = { alloc_01m7hd94zcftx8mpwks8b0fdbs: "train-7", user_b: "bea@example.com" };
const nameOf = (id: string) => names[id] ?? id;

test.each([
  [{ target_kind: "project", target_id: "p", facts: { email: "carl@example.com" } }, "carl@example.com"],
  [{ target_kind: "project", target_id: "p", facts: { user: "user_b" } }, "bea@example.com"],
  [
    { target_kind: "route", target_id: "POST /api/v1/allocations/alloc_01m7hd94zcftx8mpwks8b0fdbs/restart" },
    "POST /allocations/train-7/restart",
  ],
  [
    {
      target_kind: "access_grant",
      target_id: "g",
      facts: { allocation: "alloc_01m7hd94zcftx8mpwks8b0fdbs", user: "user_b" },
    },
    "train-7, bea@example.com",
  ],
  [{ target_kind: "allocation", target_id: "alloc_01m7hd94zcftx8mpwks8b0fdbs" }, "train-7"],
  [{ target_kind: "ssh_key", target_id: "key_1" }, "ssh key"],
])("an audit row names what it is about: %o", (row, shown) => {
  expect(targetOf(row, "p", nameOf).text).toBe(shown);
});
