import type { AccessGrant } from "../../api/queries/access";
import type { Allocation, AllocationStatus } from "../../api/queries/allocations";
import type { Me } from "../../api/queries/session";
import { LOOKS_ON } from "../../frame/project";
import { rightsOf } from "./access/rights";

export type Verb = "restart" | "resize" | "extend" | "release";

export const VERBS: Record<Verb, string> = {
  restart: "Restart",
  resize: "Resize",
  extend: "Extend",
  release: "Release",
};

const ENDED: readonly AllocationStatus[] = ["released", "failed"];
const CAN_BOOT: readonly AllocationStatus[] = ["active", "restart_failed"];
const POSSIBLE: Record<Verb, readonly AllocationStatus[]> = {
  restart: CAN_BOOT,
  resize: CAN_BOOT,
  extend: ["requested", "provisioning", "active", "restarting", "restart_failed"],
  release: ["requested", "provisioning", "active", "restarting", "restart_failed", "release_failed"],
};

/** Nothing more can be done to it, and nothing is owed for it. */
export function isEnded({ status }: Allocation): boolean {
  return ENDED.includes(status);
}

/** Why a person cannot do this to a machine now; null when they can. The server judges again, and is right. */
export function whyNot(verb: Verb, allocation: Allocation, me: Me | undefined): string | null {
  if (me !== undefined && !isAllowed(verb, allocation, me)) {
    return verb === "release"
      ? "Viewers of the project cannot release machines."
      : "Only its holder or a project admin can.";
  }
  if (verb === "resize" && allocation.shape === "baremetal") return "A baremetal allocation has no other size.";
  if (POSSIBLE[verb].includes(allocation.status)) return null;
  if (isEnded(allocation)) return "It has ended.";
  return `Not while it is ${allocation.status.replace("_", " ")}.`;
}

/** Why a person cannot open a terminal; null when they can. Who leads a project shares the machine with themselves first. */
export function whyNoTerminal(allocation: Allocation, me: Me | undefined, grants: readonly AccessGrant[] | undefined) {
  if (allocation.status !== "active") return "There is a terminal while the machine is active.";
  if (me === undefined) return null;
  const { isHolder, works } = rightsOf(me, allocation);
  if (!works) return LOOKS_ON;
  const isGiven = grants?.some(({ user_id, status }) => user_id === me.user.id && status === "active") ?? true;
  return isHolder || isGiven ? null : "It is its holder's, and of those it is shared with: see its SSH access.";
}

function isAllowed(verb: Verb, allocation: Allocation, me: Me): boolean {
  const project = me.projects.find(({ id }) => id === allocation.project_id);
  const tenant = me.tenants.find(({ id }) => id === project?.tenant_id);
  const leads = [project?.role, tenant?.role].some((role) => role === "owner" || role === "admin");
  const works = leads || project?.role === "member";
  return verb === "release" ? works : leads || (works && allocation.holder === me.user.id);
}
