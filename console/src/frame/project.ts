import { useParams } from "react-router";
import { type Me, useMe } from "../api/queries/session";

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
  return Boolean(useMe().data?.user.platform_role);
}

const LEADING = new Set(["owner", "admin"]);

/** Whether one leads the project: by a role in it, or in its tenant. */
export function leads(me: Me, project: Project): boolean {
  return LEADING.has(project.role) || leadsTenant(me, project);
}

/** Whether one leads the tenant of the project. */
export function leadsTenant({ tenants }: Me, { tenant_id }: Project): boolean {
  return tenants.some((tenant) => tenant.id === tenant_id && LEADING.has(tenant.role));
}

/** Whether one may change things in the project, or looks on; of a project that is not one's own the server speaks. */
export function useWorks(projectId: string): boolean {
  const me = useMe().data;
  const project = me?.projects.find(({ id }) => id === projectId);
  return me === undefined || project === undefined || project.role !== "viewer" || leads(me, project);
}

export const LOOKS_ON = "You look on in this project. Ask an owner or admin for the role member.";

/** Where one may create projects. */
export function ledTenants({ tenants }: Me): Me["tenants"] {
  return tenants.filter(({ role }) => LEADING.has(role));
}

/** Owners are made and unmade by owners. */
export function owns({ tenants }: Me, { role, tenant_id }: Project): boolean {
  return role === "owner" || tenants.some((tenant) => tenant.id === tenant_id && tenant.role === "owner");
}
