import { describe, expect, it } from "vitest";
import type { Node } from "../../../api/queries/nodes";
import { objection, possibleVerbs, VERBS } from "./verbs";

const AWAY = "2026-01-01T00:00:00Z";
const node = (changes: Partial<Node>) => ({ slots_free: 1, slots_claimed: 2, ...changes }) as Node;

describe("what can be done to a node", () => {
  it("follows its intent", () => {
    expect(possibleVerbs({ intent: "active", offline_since: null })).toEqual(["drain", "quarantine"]);
    expect(possibleVerbs({ intent: "draining", offline_since: null })).toEqual(["undrain", "quarantine", "retire"]);
    expect(possibleVerbs({ intent: "quarantined", offline_since: null })).toEqual(["drain", "unquarantine", "retire"]);
    expect(possibleVerbs({ intent: "retired", offline_since: null })).toEqual([]);
  });

  it("calls only a node lost that does not answer", () => {
    expect(possibleVerbs({ intent: "active", offline_since: AWAY })).toContain("lost");
    expect(possibleVerbs({ intent: "retired", offline_since: AWAY })).toEqual([]);
    expect(possibleVerbs({ intent: "enrolling", offline_since: AWAY })).not.toContain("lost");
  });

  it("is said beforehand, with the numbers of this node", () => {
    expect(VERBS.drain.says(node({})).lost).toBe("1 slot that could be sold now.");
    expect(objection("retire", node({}))).toContain("2 slots still claimed");
    expect(objection("retire", node({ slots_claimed: 0 }))).toBeUndefined();
  });
});
