import type { Allocation } from "../../../api/queries/allocations";
import type { Me } from "../../../api/queries/session";

export interface Rights {
  isHolder: boolean;
  /** Shares the machine, changes its keys, ends sessions: its holder, and who leads the project. */
  decides: boolean;
  /** May be given machines, and ask for them. */
  works: boolean;
}

const LEADING = ["owner", "admin"];

/** Spares people buttons that would be refused; what may be done is the server's to say. */
export function rightsOf(me: Me, { project_id, holder }: Pick<Allocation, "project_id" | "holder">): Rights {
  const project = me.projects.find(({ id }) => id === project_id);
  const leadsTenant = me.tenants.some(({ id, role }) => id === project?.tenant_id && LEADING.includes(role));
  const leads = project === undefined || leadsTenant || LEADING.includes(project.role); // no member reads it as its tenant's
  const works = leads || project?.role === "member";
  const isHolder = works && holder === me.user.id;
  return { isHolder, works, decides: leads || isHolder };
}
