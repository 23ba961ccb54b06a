// @vitest-environment happy-dom
import { expect, test } from "vitest";
import type { Me } from "../api/queries/session";
import { elsewhere, switcherItems } from "./switcher";

const me = {
  tenants: [
    { id: "t1", slug: "ada", role: "owner", permissions: ["projects:create"] },
    { id: "t2", slug: "lab", role: "member" },
  ],
  projects: [
    { id: "p1", tenant_id: "t1", slug: "default", role: "owner" },
    { id: "p2", tenant_id: "t2", slug: "vision", role: "member" },
  ],
} as Me;

test("another project is shown by the same kind of page", () => {
  expect(elsewhere("/projects/p1/volumes", "p2")).toBe("/projects/p2/volumes");
  expect(elsewhere("/projects/p1/allocations/alloc-1/storage", "p2")).toBe("/projects/p2/allocations");
  expect(elsewhere("/account/tokens", "p2")).toBe("/projects/p2/allocations");
});

test("projects of several tenants stand under their tenants", () => {
  const texts = switcherItems(me, null).map((item) => item.text);
  expect(texts).toEqual(["ada", "lab", "Create a project…"]);
});

test("who leads no tenant is not offered to create", () => {
  const viewer = { ...me, tenants: me.tenants.slice(1), projects: me.projects.slice(1) };
  expect(switcherItems(viewer, null).map((item) => item.text)).toEqual(["vision"]);
});
