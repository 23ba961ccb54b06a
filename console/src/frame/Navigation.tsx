import SideNavigation, { type SideNavigationProps } from "@cloudscape-design/components/side-navigation";
import { generatePath, useLocation, useNavigate } from "react-router";
import { type Me, useMe } from "../api/queries/session";
import { may } from "./permissions";
import { type Project, tenantOf, useProject } from "./project";

interface Entry {
  group: "Compute" | "Storage" | "Access" | "Account" | "Platform";
  text: string;
  path: string;
  /** Pressed after `g`, it goes there. */
  key?: string;
  /** Who sees it; everybody when left out. */
  isFor?: "auditors" | "tenant auditors" | "operators";
}

/** The one table of pages: for the navigation, for search, and for the keyboard. A page joins when it is there. */
const ENTRIES: readonly Entry[] = [
  { group: "Compute", text: "Machines", path: "/projects/:projectId/allocations", key: "m" },
  { group: "Compute", text: "Launch", path: "/projects/:projectId/launch", key: "l" },
  { group: "Storage", text: "Volumes", path: "/projects/:projectId/volumes", key: "v" },
  { group: "Access", text: "SSH keys", path: "/account/ssh-keys", key: "k" },
  { group: "Access", text: "Members", path: "/projects/:projectId/members", key: "p" },
  { group: "Access", text: "Grants and own keys", path: "/projects/:projectId/access" },
  { group: "Account", text: "Your access", path: "/account/access", key: "y" },
  { group: "Account", text: "Sessions", path: "/account/sessions", key: "s" },
  { group: "Account", text: "Tokens", path: "/account/tokens", key: "t" },
  { group: "Account", text: "Quota", path: "/projects/:projectId/quota" },
  { group: "Account", text: "Activity", path: "/projects/:projectId/activity", key: "a" },
  { group: "Account", text: "Audit log", path: "/projects/:projectId/audit", isFor: "auditors" },
  { group: "Account", text: "Tenant audit log", path: "/tenants/:tenantId/audit", isFor: "tenant auditors" },
  { group: "Platform", text: "Fleet", path: "/platform", key: "f", isFor: "operators" },
  { group: "Platform", text: "Nodes", path: "/platform/nodes", key: "n", isFor: "operators" },
  { group: "Platform", text: "Operations", path: "/platform/operations", key: "o", isFor: "operators" },
  { group: "Platform", text: "Operation history", path: "/platform/history", isFor: "operators" },
  { group: "Platform", text: "Accounts and quotas", path: "/platform/accounts", isFor: "operators" },
  { group: "Platform", text: "Audit log of the platform", path: "/platform/audit", isFor: "operators" },
  { group: "Platform", text: "Invariants", path: "/platform/invariants", isFor: "operators" },
  { group: "Platform", text: "Workers and queues", path: "/platform/workers", key: "w", isFor: "operators" },
  { group: "Platform", text: "Runtime bundles", path: "/platform/runtime-bundles", key: "b", isFor: "operators" },
];

export interface PageLink {
  group: string;
  text: string;
  href: string;
  key: string;
}

/** The pages there are for this person in this project. */
export function pagesFor(me: Me, project: Project | null): PageLink[] {
  return ENTRIES.filter(({ path, isFor }) => {
    if (path.startsWith("/projects/") && project === null) return false;
    if (isFor === "tenant auditors") return project !== null && may(tenantOf(me, project), "audit:read");
    if (isFor === "operators") return may(me, "fleet:read");
    return isFor !== "auditors" || may(project, "audit:read");
  }).map(({ group, text, path, key = "" }) => ({
    group,
    text,
    key,
    href: generatePath(path, { projectId: project?.id ?? "", tenantId: project?.tenant_id ?? "" }),
  }));
}

export function Navigation() {
  const me = useMe().data;
  const project = useProject();
  const { pathname } = useLocation();
  const navigate = useNavigate();
  const pages = me ? pagesFor(me, project) : [];
  return (
    <SideNavigation
      items={sections(pages)}
      activeHref={longestMatch(pages, pathname)}
      onFollow={(event) => {
        if (event.detail.external) return;
        event.preventDefault();
        void navigate(event.detail.href);
      }}
    />
  );
}

function sections(pages: readonly PageLink[]): SideNavigationProps.Item[] {
  return [...new Set(pages.map(({ group }) => group))].map((group) => ({
    type: "section-group",
    title: group,
    items: pages.filter((page) => page.group === group).map(({ text, href }) => ({ type: "link", text, href })),
  }));
}

/** A detail page lights the list it belongs to. */
function longestMatch(pages: readonly PageLink[], pathname: string): string {
  const under = pages.map(({ href }) => href).filter((href) => pathname === href || pathname.startsWith(`${href}/`));
  return under.sort((a, b) => b.length - a.length)[0] ?? "";
}
