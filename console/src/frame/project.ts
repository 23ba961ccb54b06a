import { useParams } from "react-router";
import { type Me, useMe } from "../api/queries/session";
import { may, type Permission } from "./permissions";

export type Project = Me["projects"][number];

const LAST = "gpuaas-project";

/** The project of the address; on pages of no project the one last looked at. */
export function useProject(): Project | null {
  const { projectId } = useParams();
  const me = useMe().data;
  const found = me ? projectOf(me, projectId) : null;
  if (found !== null && found.id !== localStorage.getItem(LAST)) localStorage.setItem(LAST, found.id);
  return found;
}

export function projectOf({ projects }: Me, projectId: string | undefined): Project | null {
  const wanted = projectId ?? localStorage.getItem(LAST);
  return projects.find(({ id }) => id === wanted) ?? (projectId ? null : (projects[0] ?? null));
}

export function useIsOperator(): boolean {
  return may(useMe().data, "fleet:read");
}

/** The tenant of a project, if the caller is in it. */
export function tenantOf({ tenants }: Me, { tenant_id }: Project): Me["tenants"][number] | undefined {
  return tenants.find(({ id }) => id === tenant_id);
}

/** Whether the caller may do this in a project; of a project that they are no member of, the server decides. */
export function useMay(projectId: string, permission: Permission): boolean {
  const project = useMe().data?.projects.find(({ id }) => id === projectId);
  return project === undefined || may(project, permission);
}

export const LOOKS_ON = "You look on in this project. Ask an owner or admin for the role member.";

/** Tenants in which the caller may create projects. */
export function creatableIn({ tenants }: Me): Me["tenants"] {
  return tenants.filter((tenant) => may(tenant, "projects:create"));
}
