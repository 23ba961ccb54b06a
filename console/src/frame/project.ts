import { useParams } from "react-router";
import { type Me, useMe } from "../api/queries/session";

export type Project = Me["projects"][number];

const LAST = "gpuaas-project";

/** The project of the address; on pages of no project the one last looked at. */
export function useProject(): Project | null {
  const { projectId } = useParams();
  const projects = useMe().data?.projects ?? [];
  const wanted = projectId ?? localStorage.getItem(LAST);
  const found = projects.find(({ id }) => id === wanted) ?? (projectId ? null : (projects[0] ?? null));
  if (found !== null && found.id !== localStorage.getItem(LAST)) localStorage.setItem(LAST, found.id);
  return found;
}

export function useIsOperator(): boolean {
  return Boolean(useMe().data?.user.platform_role);
}
