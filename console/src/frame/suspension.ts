import type { FlashbarProps } from "@cloudscape-design/components/flashbar";
import type { Me } from "../api/queries/session";
import type { Project } from "./project";

const KEPT =
  "Allocations keep running and are still billed, and all data is kept. You can look, but not change or connect.";

/** What the members of a suspended project or tenant read on every page of it. */
export function suspensionNotice(me: Me | undefined, project: Project | null): FlashbarProps.MessageDefinition | null {
  if (!project?.suspended_at) return null;
  const tenant = me?.tenants.find(({ id }) => id === project.tenant_id);
  const what = tenant?.suspended_at ? `tenant ${tenant.slug}` : `project ${project.slug}`;
  return {
    id: "suspended",
    type: "warning",
    header: `An operator suspended the ${what}`,
    content: `${because(project.suspension_reason)} ${KEPT} Ask an operator of this platform to resume it.`,
  };
}

export function because(reason: string | null | undefined): string {
  const words = (reason ?? "").trim();
  if (words === "") return "No reason was given.";
  return `Reason: ${words}${/[.!?]$/.test(words) ? "" : "."}`;
}
