import type { components } from "../api/schema";

type Role = components["schemas"]["Role"];

/** What each role may do, in a line. */
export const ROLES: Record<Role, { label: string; description: string }> = {
  owner: { label: "Owner", description: "Everything, also making and unmaking owners" },
  admin: { label: "Admin", description: "Members, everybody's machines and who enters them, the audit log" },
  member: { label: "Member", description: "Launches machines and volumes, and shares their own" },
  viewer: { label: "Viewer", description: "Looks on; enters no machine" },
};

const ORDER: readonly Role[] = ["viewer", "member", "admin", "owner"];

/** Those that one may give: owners are made by owners. */
export function rolesToGive(isOwner: boolean): Role[] {
  return ORDER.filter((role) => role !== "owner" || isOwner);
}
