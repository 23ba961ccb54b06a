import type { Allocation, AllocationStatus } from "../../api/queries/allocations";
import { may, type Permission } from "../../frame/permissions";
import { LOOKS_ON } from "../../frame/project";

export type Verb = "restart" | "resize" | "extend" | "release";

export const VERBS: Record<Verb, string> = {
  restart: "Restart",
  resize: "Resize",
  extend: "Extend",
  release: "Release",
};

export const NOT_YOURS = "Only its holder or a project admin can.";

const NEEDS: Record<Verb, Permission> = {
  restart: "allocations:operate",
  resize: "allocations:operate",
  extend: "allocations:operate",
  release: "allocations:release",
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
export function whyNot(verb: Verb, allocation: Allocation): string | null {
  if (!may(allocation, NEEDS[verb])) return NOT_YOURS;
  if (verb === "resize" && allocation.shape === "baremetal") return "A baremetal allocation has no other size.";
  if (POSSIBLE[verb].includes(allocation.status)) return null;
  if (isEnded(allocation)) return "It has ended.";
  return `Not while it is ${allocation.status.replace("_", " ")}.`;
}

/** Why a person cannot open a terminal; null when they can. Project admins share the machine with themselves first. */
export function whyNoTerminal(allocation: Allocation): string | null {
  if (allocation.status !== "active") return "There is a terminal while the machine is active.";
  if (may(allocation, "terminals:open")) return null;
  if (!may(allocation, "access:ask")) return LOOKS_ON;
  return "It is its holder's, and of those it is shared with: see its SSH access.";
}
