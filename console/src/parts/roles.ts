import type { components } from "../api/schema";

type Role = components["schemas"]["Role"];

/** What each role may do, in a line. */
export const ROLES: Record<Role, { label: string; description: string; becoming?: { lost: string; stays: string } }> = {
  owner: { label: "Owner", description: "Everything, also making and unmaking owners" },
  admin: { label: "Admin", description: "Members, everybody's machines and who enters them, the audit log" },
  member: { label: "Member", description: "Launches machines and volumes, and shares their own" },
  viewer: {
    label: "Viewer",
    description: "Looks on; enters no machine",
    becoming: {
      lost: "Every way of theirs into the project's machines: grants and keys. Open sessions are cut at once.",
      stays: "The machines and all that runs there; admins of the project hold those they held.",
    },
  },
};

const ORDER: readonly Role[] = ["viewer", "member", "admin", "owner"];

/** Of the roles that the caller may give, the lowest first. */
export function rising(assignable: readonly Role[]): Role[] {
  return ORDER.filter((role) => assignable.includes(role)); // house: role because the list is the server's
}
