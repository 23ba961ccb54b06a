// @vitest-environment happy-dom
import { describe, expect, it } from "vitest";
import type { Allocation } from "../../api/queries/allocations";
import type { Permission } from "../../frame/permissions";
import { whyNoTerminal, whyNot } from "./verbs";

function machine(permissions: Permission[], facts: Partial<Allocation> = {}): Allocation {
  return { project_id: "proj_1", shape: "gpu_slice", status: "active", permissions, ...facts } as Allocation;
}

const OPERATES: Permission[] = ["allocations:operate", "allocations:release"];

describe("what a person can do to a machine", () => {
  it("is what the server permits", () => {
    expect(whyNot("restart", machine(["allocations:operate"]))).toBeNull();
    expect(whyNot("extend", machine(["allocations:release"]))).toContain("holder");
    expect(whyNot("release", machine(["allocations:release"]))).toBeNull();
    expect(whyNot("release", machine(["allocations:operate"]))).toContain("holder");
  });

  it("says in which state it is not possible", () => {
    expect(whyNot("restart", machine(OPERATES, { status: "restarting" }))).toBe("Not while it is restarting.");
    expect(whyNot("release", machine(OPERATES, { status: "release_failed" }))).toBeNull();
    expect(whyNot("extend", machine(OPERATES, { status: "released" }))).toBe("It has ended.");
    expect(whyNot("resize", machine(OPERATES, { shape: "baremetal" }))).toContain("no other size");
  });
});

describe("who can open a terminal", () => {
  it("is whom the server permits to", () => {
    expect(whyNoTerminal(machine(["terminals:open"]))).toBeNull();
    expect(whyNoTerminal(machine(["access:ask"]))).toContain("holder");
    expect(whyNoTerminal(machine([]))).toContain("look on");
  });

  it("is nobody while it does not run", () => {
    expect(whyNoTerminal(machine(["terminals:open"], { status: "restarting" }))).toContain("active");
  });
});
