// @vitest-environment happy-dom
import { expect, test } from "vitest";
import { isAbout, onceAtATime } from "./following";
import type { Entry } from "./live";

const entry = { subject_kind: "volume", subject_id: "vol-1", project_id: "proj-1", phase: "volume_available" } as Entry;

test("an event about a volume asks for the project's volumes and that volume again", () => {
  expect(isAbout(["volumes", "proj-1"], entry)).toBe(true);
  expect(isAbout(["volume", "vol-1"], entry)).toBe(true);
});

test("an event leaves other projects and other things alone", () => {
  expect(isAbout(["volumes", "proj-2"], entry)).toBe(false);
  expect(isAbout(["members", "proj-1"], entry)).toBe(false);
});

test("attaching is told of the machine and asks for its volume again too", () => {
  const attached = {
    subject_kind: "allocation",
    subject_id: "alloc-1",
    project_id: "proj-1",
    phase: "volume_attached",
    evidence: { volume_id: "vol-1" },
  } as unknown as Entry;
  expect(isAbout(["volume", "vol-1"], attached)).toBe(true);
  expect(isAbout(["volumes", "proj-1"], attached)).toBe(true);
  expect(isAbout(["volume", "vol-2"], attached)).toBe(false);
  expect(isAbout(["volumes", "proj-1"], { ...attached, phase: "active" })).toBe(false);
});

test("what happens during a look is seen by one more, however much it was", async () => {
  const looks: (() => void)[] = [];
  const look = onceAtATime(() => new Promise((done) => looks.push(done)));
  const all = [look("a"), look("a"), look("a")];
  expect(looks.length).toBe(1);
  looks[0]?.();
  await Promise.resolve();
  await Promise.resolve();
  expect(looks.length).toBe(2);
  looks[1]?.();
  await Promise.all(all);
  expect(looks.length).toBe(2);
  void look("a");
  expect(looks.length).toBe(3);
});
