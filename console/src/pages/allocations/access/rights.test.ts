import { expect, test } from "vitest";
import type { Me } from "../../../api/queries/session";
import { rightsOf } from "./rights";

const machine = { project_id: "proj_1", holder: "user_me" };
const others = { project_id: "proj_1", holder: "user_other" };
const me = (role: "owner" | "admin" | "member" | "viewer", tenantRole: "owner" | "member" = "member"): Me => ({
  user: { id: "user_me", email: "me@example.com", platform_role: null },
  tenants: [{ id: "ten_1", slug: "t", role: tenantRole }],
  projects: [{ id: "proj_1", tenant_id: "ten_1", slug: "p", role }],
  scopes: [],
});

test("a holder decides while they work in the project", () => {
  expect(rightsOf(me("member"), machine)).toEqual({ isHolder: true, decides: true, works: true });
  expect(rightsOf(me("viewer"), machine)).toEqual({ isHolder: false, decides: false, works: false });
});

test("who leads the project or its tenant decides on machines of others", () => {
  expect(rightsOf(me("admin"), others).decides).toBe(true);
  expect(rightsOf(me("viewer", "owner"), others).decides).toBe(true);
  expect(rightsOf(me("member"), others)).toEqual({ isHolder: false, decides: false, works: true });
});

test("who reads a project without being in it leads its tenant", () => {
  expect(rightsOf({ ...me("member"), projects: [] }, others).decides).toBe(true);
});
