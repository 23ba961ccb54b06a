import { describe, expect, it } from "vitest";
import type { Node, SlotMark } from "../../../api/queries/nodes";
import { byFamily, byRegion, faceOf, inFleet, inWords, tally } from "./faces";

const mark = (status: SlotMark["status"], changes: Partial<SlotMark> = {}): SlotMark => ({
  index: 0,
  status,
  gpu_family: "h200",
  cleanup_blocked: false,
  allocation_id: null,
  ...changes,
});

const node = (name: string, slots: SlotMark[], changes: Partial<Node> = {}): Node =>
  ({ id: `node_${name}`, name, region: "local", intent: "active", offline_since: null, slots, ...changes }) as Node;

describe("the face of a slot", () => {
  it("is free only on a node that sells", () => {
    expect(faceOf(mark("free"), { intent: "active", offline_since: null })).toBe("free");
    expect(faceOf(mark("free"), { intent: "draining", offline_since: null })).toBe("withheld");
    expect(faceOf(mark("free"), { intent: "quarantined", offline_since: null })).toBe("withheld");
    expect(faceOf(mark("free"), { intent: "active", offline_since: "2026-01-01T00:00:00Z" })).toBe("withheld");
  });

  it("is used on any node, and blocked while its last cleanup is unproven", () => {
    expect(faceOf(mark("claimed"), { intent: "draining", offline_since: null })).toBe("used");
    expect(faceOf(mark("claimed", { cleanup_blocked: true }), { intent: "active", offline_since: null })).toBe(
      "blocked",
    );
  });

  it("says that requirements are missing, whatever the node is meant to do", () => {
    expect(faceOf(mark("missing_requirements"), { intent: "active", offline_since: null })).toBe("missing");
    expect(faceOf(mark("claimed"), { intent: "active", offline_since: null })).toBe("used");
  });

  it("is a candidate's or a disabled one's whatever the node does", () => {
    expect(faceOf(mark("candidate"), { intent: "draining", offline_since: null })).toBe("candidate");
    expect(faceOf(mark("disabled"), { intent: "active", offline_since: null })).toBe("disabled");
  });
});

describe("the fleet", () => {
  const fleet = [
    node("gpu-10", [mark("free"), mark("claimed")]),
    node("gpu-2", [mark("free", { gpu_family: "b200" })], { region: "eu" }),
    node("gpu-9", [mark("free")], { intent: "draining" }),
    node("old", [mark("free")], { intent: "retired" }),
  ];

  it("leaves out what is retired", () => {
    expect(inFleet(fleet).map(({ name }) => name)).toEqual(["gpu-10", "gpu-2", "gpu-9"]);
  });

  it("counts and says only what there is", () => {
    expect(inWords(tally(inFleet(fleet)))).toBe("2 free, 1 used, 1 held back");
    expect(inWords(tally([]))).toBe("no slots");
  });

  it("is told by family, the largest first, with the nodes it is on", () => {
    expect(byFamily(inFleet(fleet)).map(({ family, nodes }) => [family, nodes])).toEqual([
      ["h200", 2],
      ["b200", 1],
    ]);
  });

  it("is told by region, with nodes in the order people count in", () => {
    const named = byRegion(inFleet(fleet)).map(([region, nodes]) => [region, nodes.map(({ name }) => name)]);
    expect(named).toEqual([
      ["eu", ["gpu-2"]],
      ["local", ["gpu-9", "gpu-10"]],
    ]);
  });
});
