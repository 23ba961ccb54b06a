import type { components } from "../api/schema";

type Role = components["schemas"]["Role"];

/** A label and a one-line description of each role. */
export const ROLES: Record<Role, { label: string; description: string; becoming?: { lost: string; stays: string } }> = {
  owner: { label: "Owner", description: "All permissions, including adding and removing owners" },
  admin: { label: "Admin", description: "Manages members, all allocations and their access; reads the audit log" },
  member: { label: "Member", description: "Creates allocations and volumes, and shares their own" },
  viewer: {
    label: "Viewer",
    description: "Reads the project; cannot connect to allocations",
    becoming: {
      lost: "All access to the project's allocations: grants and keys. Open connections close at once.",
      stays: "The allocations and everything that runs on them; project admins become their holders.",
    },
  },
};

const ORDER: readonly Role[] = ["viewer", "member", "admin", "owner"];

/** Sorts the roles that the caller may assign, lowest first. */
export function rising(assignable: readonly Role[]): Role[] {
  return ORDER.filter((role) => assignable.includes(role)); // house: role because the list is the server's
}
