// @vitest-environment happy-dom
import { describe, expect, it } from "vitest";
import type { AccessGrant } from "../../api/queries/access";
import type { Allocation } from "../../api/queries/allocations";
import type { Me } from "../../api/queries/session";
import { whyNoTerminal, whyNot } from "./verbs";

function machine(facts: Partial<Allocation>): Allocation {
  return { project_id: "proj_1", holder: "user_ada", shape: "gpu_slice", status: "active", ...facts } as Allocation;
}

function person(id: string, role: Me["projects"][number]["role"]): Me {
  return {
    user: { id, email: `${id}@example.com` },
    tenants: [],
    projects: [{ id: "proj_1", tenant_id: "ten_1", slug: "default", role }],
    scopes: [],
  };
}

describe("what a person can do to a machine", () => {
  it("lets its holder restart it, and no other member", () => {
    expect(whyNot("restart", machine({}), person("user_ada", "member"))).toBeNull();
    expect(whyNot("restart", machine({}), person("user_bob", "member"))).toContain("holder");
    expect(whyNot("restart", machine({}), person("user_bob", "admin"))).toBeNull();
  });

  it("lets every member release it, and no viewer", () => {
    expect(whyNot("release", machine({}), person("user_bob", "member"))).toBeNull();
    expect(whyNot("release", machine({}), person("user_ada", "viewer"))).toContain("Viewers");
  });

  it("lets one who leads the tenant, whatever they are in the project", () => {
    const leader = {
      ...person("user_eve", "viewer"),
      tenants: [{ id: "ten_1", slug: "acme", role: "owner" as const }],
    };
    expect(whyNot("resize", machine({}), leader)).toBeNull();
  });

  it("says in which state it is not possible", () => {
    const ada = person("user_ada", "owner");
    expect(whyNot("restart", machine({ status: "restarting" }), ada)).toBe("Not while it is restarting.");
    expect(whyNot("release", machine({ status: "release_failed" }), ada)).toBeNull();
    expect(whyNot("extend", machine({ status: "released" }), ada)).toBe("It has ended.");
    expect(whyNot("resize", machine({ shape: "baremetal" }), ada)).toContain("no other size");
  });
});

describe("who can open a terminal", () => {
  const given = [{ user_id: "user_bob", status: "active" }] as AccessGrant[];

  it("is its holder, and whom it is shared with", () => {
    expect(whyNoTerminal(machine({}), person("user_ada", "member"), undefined)).toBeNull();
    expect(whyNoTerminal(machine({}), person("user_bob", "member"), given)).toBeNull();
    expect(whyNoTerminal(machine({}), person("user_eve", "admin"), given)).toContain("holder");
    expect(whyNoTerminal(machine({}), person("user_eve", "viewer"), [])).toContain("look on");
  });

  it("is left to the server while the grants are on their way", () => {
    expect(whyNoTerminal(machine({}), person("user_bob", "member"), undefined)).toBeNull();
  });

  it("is nobody while it does not run", () => {
    expect(whyNoTerminal(machine({ status: "restarting" }), person("user_ada", "owner"), [])).toContain("active");
  });
});
