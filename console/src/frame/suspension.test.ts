// @vitest-environment node
import { expect, test } from "vitest";
import type { Me } from "../api/queries/session";
import { suspensionNotice } from "./suspension";

const AT = "2026-11-16T00:00:00Z";

function me(tenantAt: string | null, projectAt: string | null): Me {
  const role = "member" as const;
  return {
    user: { id: "user_1", email: "ada@example.com", platform_role: null },
    tenants: [{ id: "ten_1", slug: "acme", role, suspended_at: tenantAt, suspension_reason: "" }],
    projects: [
      { id: "p", tenant_id: "ten_1", slug: "vision", role, suspended_at: projectAt, suspension_reason: "unpaid" },
    ],
    scopes: [],
  };
}

test("members of a suspended project read why, what is kept and whom to ask", () => {
  const somebody = me(null, AT);
  const notice = suspensionNotice(somebody, somebody.projects[0] ?? null);
  expect(notice?.header).toBe("An operator suspended the project vision");
  expect(notice?.content).toContain("Reason: unpaid. Allocations keep running");
  expect(notice?.content).toContain("Ask an operator");
});

test("a suspended tenant is named, and nothing is said of what is not suspended", () => {
  const suspended = me(AT, AT);
  expect(suspensionNotice(suspended, suspended.projects[0] ?? null)?.header).toBe(
    "An operator suspended the tenant acme",
  );
  const active = me(null, null);
  expect(suspensionNotice(active, active.projects[0] ?? null)).toBeNull();
});
