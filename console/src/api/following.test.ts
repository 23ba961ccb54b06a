import { expect, test } from "vitest";
import { isAbout } from "./following";
import type { Entry } from "./live";

const entry = { subject_kind: "volume", subject_id: "vol-1", project_id: "proj-1" } as Entry;

test("an event about a volume asks for the project's volumes and that volume again", () => {
  expect(isAbout(["volumes", "proj-1"], entry)).toBe(true);
  expect(isAbout(["volume", "vol-1"], entry)).toBe(true);
});

test("an event leaves other projects and other things alone", () => {
  expect(isAbout(["volumes", "proj-2"], entry)).toBe(false);
  expect(isAbout(["members", "proj-1"], entry)).toBe(false);
});
