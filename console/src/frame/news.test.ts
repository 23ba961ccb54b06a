// @vitest-environment happy-dom
import { expect, test } from "vitest";
import type { Entry } from "../api/live";
import { withEntry } from "../api/queries/timeline";
import { markSeen, newsOf, seen, seenOf, unread } from "./news";

function entry(id: number, phase: string, more: Partial<Entry> = {}): Entry {
  return {
    id,
    subject_kind: "allocation",
    subject_id: "alloc-1",
    project_id: "proj-1",
    operation_id: null,
    phase,
    outcome: "done",
    at: "2026-11-16T04:00:00Z",
    actor: "system",
    actor_name: "system",
    note: "",
    evidence: {},
    ...more,
  };
}

const names = new Map([["alloc-1", "train-7"]]);

test("a machine that became active is news, by name and with a link to it", () => {
  const [told] = newsOf([entry(1, "active")], names);
  expect(told).toMatchObject({
    tone: "success",
    text: "train-7 is active",
    href: "/projects/proj-1/allocations/alloc-1",
  });
});

test("steps in between and things of other kinds are no news", () => {
  expect(newsOf([entry(1, "provisioning"), entry(2, "active", { subject_kind: "node" })], names)).toEqual([]);
});

test("what has no name here is still told", () => {
  expect(newsOf([entry(1, "failed")], new Map())[0]?.text).toBe("A machine failed");
});

test("unread is what came since and was done by others", () => {
  const news = newsOf([entry(3, "released", { actor: "ada" }), entry(2, "active"), entry(1, "active")], names);
  expect(unread(news, 1, "ada").map(({ id }) => id)).toEqual([2]);
});

test("an entry that is told twice is there once, and the newest comes first", () => {
  const once = withEntry([entry(1, "active")], entry(2, "failed"));
  expect(withEntry(once, entry(2, "failed")).map(({ id }) => id)).toEqual([2, 1]);
});

test("who comes to a project for the first time has nothing to catch up with, and everything after is new", () => {
  expect(seenOf({}, "fresh", 5)).toEqual({ upTo: 5, before: 5 });
  expect(seenOf({}, "fresh", 9)).toEqual({ upTo: 5, before: 5 });
  markSeen("fresh", 9);
  expect(seen.get().fresh).toEqual({ upTo: 9, before: 5 });
});

test("what was seen before is kept apart from what is seen now, so that new lines can be marked", () => {
  markSeen("p", 3);
  markSeen("p", 8);
  expect(seen.get().p).toEqual({ upTo: 8, before: 3 });
});
