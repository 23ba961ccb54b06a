import type { ButtonDropdownProps } from "@cloudscape-design/components/button-dropdown";
import type { Me } from "../api/queries/session";
import { creatableIn, type Project } from "./project";

export const CREATE = "create";

/** Projects, by tenant where there are several; and how to make one, for who may. */
export function switcherItems(me: Me, shown: Project | null): ButtonDropdownProps.Items {
  const item = ({ id, slug, role }: Project): ButtonDropdownProps.Item => ({
    id,
    text: slug,
    secondaryText: role,
    ...(id === shown?.id ? { iconName: "check" } : {}),
  });
  const create: ButtonDropdownProps.Items =
    creatableIn(me).length > 0 ? [{ id: CREATE, text: "Create a project…", iconName: "add-plus" }] : [];
  const tenants = me.tenants.filter(({ id }) => me.projects.some(({ tenant_id }) => tenant_id === id));
  if (tenants.length < 2) return [...me.projects.map(item), ...create];
  const groups = tenants.map(({ id, slug }) => ({
    text: slug,
    items: me.projects.filter(({ tenant_id }) => tenant_id === id).map(item),
  }));
  return [...groups, ...create];
}

/** The same kind of page in another project; a thing of one project is not in another, its list is. */
export function elsewhere(pathname: string, projectId: string): string {
  const noun = /^\/projects\/[^/]+\/([^/]+)/.exec(pathname)?.[1] ?? "allocations";
  return `/projects/${projectId}/${noun}`;
}
