import { createBrowserRouter, type LoaderFunctionArgs, type RouteObject, redirect } from "react-router";
import { load } from "./api/chunks";
import { platform } from "./pages/platform/routes";
import { Crash } from "./parts/Crash";
import { Starting } from "./parts/Starting";

/** Every page is its own chunk, loaded when first gone to. */
const pages: RouteObject[] = [
  {
    path: "projects/:projectId",
    loader: ({ params }: LoaderFunctionArgs) => redirect(`/projects/${params.projectId}/allocations`),
  },
  {
    path: "projects/:projectId/allocations",
    lazy: async () => ({ Component: (await load(() => import("./pages/allocations/ListPage"))).ListPage }),
  },
  {
    path: "projects/:projectId/allocations/:id/:tab?",
    lazy: async () => ({ Component: (await load(() => import("./pages/allocations/DetailPage"))).DetailPage }),
  },
  {
    path: "projects/:projectId/launch/:step?",
    lazy: async () => {
      const { LaunchPage, loader } = await load(() => import("./pages/launch/LaunchPage"));
      return { Component: LaunchPage, loader };
    },
  },
  {
    path: "projects/:projectId/volumes",
    lazy: async () => ({ Component: (await load(() => import("./pages/volumes/ListPage"))).ListPage }),
  },
  {
    path: "projects/:projectId/volumes/:volumeId/:tab?",
    lazy: async () => ({ Component: (await load(() => import("./pages/volumes/DetailPage"))).DetailPage }),
  },
  {
    path: "projects/:projectId/members",
    lazy: async () => ({ Component: (await load(() => import("./pages/members/MembersPage"))).MembersPage }),
  },
  {
    path: "projects/:projectId/members/:userId",
    lazy: async () => ({ Component: (await load(() => import("./pages/members/MemberPage"))).MemberPage }),
  },
  {
    path: "projects/:projectId/access",
    lazy: async () => ({ Component: (await load(() => import("./pages/access/ProjectAccessPage"))).ProjectAccessPage }),
  },
  {
    path: "projects/:projectId/activity",
    lazy: async () => ({ Component: (await load(() => import("./pages/activity/ActivityPage"))).ActivityPage }),
  },
  {
    path: "projects/:projectId/activity/:operationId",
    lazy: async () => ({ Component: (await load(() => import("./pages/activity/OperationPage"))).OperationPage }),
  },
  {
    path: "projects/:projectId/quota",
    lazy: async () => ({ Component: (await load(() => import("./pages/quota/QuotaPage"))).QuotaPage }),
  },
  {
    path: "projects/:projectId/audit",
    lazy: async () => ({ Component: (await load(() => import("./pages/activity/AuditPage"))).AuditPage }),
  },
  {
    path: "tenants/:tenantId/audit",
    lazy: async () => ({ Component: (await load(() => import("./pages/activity/TenantAuditPage"))).TenantAuditPage }),
  },
  {
    path: "invitations/accept",
    lazy: async () => ({ Component: (await load(() => import("./pages/members/AcceptPage"))).AcceptPage }),
  },
  {
    path: "account/access",
    lazy: async () => ({ Component: (await load(() => import("./pages/account/AccessPage"))).AccessPage }),
  },
  {
    path: "account/ssh-keys",
    lazy: async () => ({ Component: (await load(() => import("./pages/account/SshKeysPage"))).SshKeysPage }),
  },
  {
    path: "account/sessions",
    lazy: async () => ({ Component: (await load(() => import("./pages/account/SessionsPage"))).SessionsPage }),
  },
  {
    path: "account/tokens",
    lazy: async () => ({ Component: (await load(() => import("./pages/account/TokensPage"))).TokensPage }),
  },
];

const NOT_FOUND: RouteObject = {
  path: "*",
  lazy: async () => ({ Component: (await load(() => import("./pages/NotFoundPage"))).NotFoundPage }),
};

export const router = createBrowserRouter([
  {
    path: "/login",
    lazy: async () => ({ Component: (await load(() => import("./pages/login/LoginPage"))).LoginPage }),
    ErrorBoundary: Crash,
    HydrateFallback: Starting,
  },
  {
    path: "/",
    lazy: async () => ({ Component: (await load(() => import("./frame/Shell"))).Shell }),
    ErrorBoundary: Crash,
    HydrateFallback: Starting,
    // An error of a page stays inside the shell: navigation, notices and terminals go on.
    children: [{ ErrorBoundary: Crash, children: [...pages, platform, NOT_FOUND] }],
  },
]);
