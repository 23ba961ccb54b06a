import { expect, test } from "vitest";
import type { Allocation } from "../../../api/queries/allocations";
import { rightsOf } from "./rights";

const NEEDS = { isHolder: "keys:choose", decides: "access:manage", works: "access:ask" } as const;

test("each right is a permission of the response", () => {
  for (const [right, permission] of Object.entries(NEEDS)) {
    const none = { isHolder: false, decides: false, works: false };
    expect(rightsOf({ permissions: [permission] })).toEqual({ ...none, [right]: true });
  }
});

test("a response without permissions allows nothing", () => {
  expect(rightsOf({} as Allocation)).toEqual({ isHolder: false, decides: false, works: false });
});
