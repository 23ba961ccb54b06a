import type { components } from "../api/schema";

export type Permission = NonNullable<components["schemas"]["Allocation"]["permissions"]>[number];

interface Permitted {
  permissions?: readonly Permission[];
}

/** Whether the caller may do this with a resource, as the server says. The console compares no roles. */
export function may(resource: Permitted | null | undefined, permission: Permission): boolean {
  return resource?.permissions?.includes(permission) ?? false;
}
