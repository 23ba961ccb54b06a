import { createBrowserRouter, type LoaderFunctionArgs, type RouteObject, redirect } from "react-router";
import { platform } from "./pages/platform/routes";
import { Crash } from "./parts/Crash";

/** Every page is its own chunk, loaded when first gone to. */
const pages: RouteObject[] = [
  {
    path: "projects/:projectId",
    loader: ({ params }: LoaderFunctionArgs) => redirect(`/projects/${params.projectId}/allocations`),
  },
  {
    path: "projects/:projectId/allocations",
    lazy: async () => ({ Component: (await import("./pages/allocations/ListPage")).ListPage }),
  },
  {
    path: "projects/:projectId/allocations/:id/:tab?",
    lazy: async () => ({ Component: (await import("./pages/allocations/DetailPage")).DetailPage }),
  },
  {
    path: "projects/:projectId/launch/:step?",
    lazy: async () => {
      const { LaunchPage, loader } = await import("./pages/launch/LaunchPage");
      return { Component: LaunchPage, loader };
    },
  },
  {
    path: "projects/:projectId/volumes",
    lazy: async () => ({ Component: (await import("./pages/volumes/ListPage")).ListPage }),
  },
  {
    path: "projects/:projectId/volumes/:volumeId/:tab?",
    lazy: async () => ({ Component: (await import("./pages/volumes/DetailPage")).DetailPage }),
  },
  {
    path: "projects/:projectId/members",
    lazy: async () => ({ Component: (await import("./pages/members/MembersPage")).MembersPage }),
  },
  {
    path: "projects/:projectId/members/:userId",
    lazy: async () => ({ Component: (await import("./pages/members/MemberPage")).MemberPage }),
  },
  {
    path: "projects/:projectId/activity",
    lazy: async () => ({ Component: (await import("./pages/activity/ActivityPage")).ActivityPage }),
  },
  {
    path: "projects/:projectId/activity/:operationId",
    lazy: async () => ({ Component: (await import("./pages/activity/OperationPage")).OperationPage }),
  },
  {
    path: "projects/:projectId/audit",
    lazy: async () => ({ Component: (await import("./pages/activity/AuditPage")).AuditPage }),
  },
  {
    path: "invitations/accept",
    lazy: async () => ({ Component: (await import("./pages/members/AcceptPage")).AcceptPage }),
  },
  {
    path: "account/access",
    lazy: async () => ({ Component: (await import("./pages/account/AccessPage")).AccessPage }),
  },
  {
    path: "account/ssh-keys",
    lazy: async () => ({ Component: (await import("./pages/account/SshKeysPage")).SshKeysPage }),
  },
  {
    path: "account/sessions",
    lazy: async () => ({ Component: (await import("./pages/account/SessionsPage")).SessionsPage }),
  },
  {
    path: "account/tokens",
    lazy: async () => ({ Component: (await import("./pages/account/TokensPage")).TokensPage }),
  },
];

export const router = createBrowserRouter([
  {
    path: "/login",
    lazy: async () => ({ Component: (await import("./pages/login/LoginPage")).LoginPage }),
    ErrorBoundary: Crash,
    HydrateFallback: () => null,
  },
  {
    path: "/",
    lazy: async () => ({ Component: (await import("./frame/Shell")).Shell }),
    ErrorBoundary: Crash,
    HydrateFallback: () => null,
    children: [
      ...pages,
      platform,
      { path: "*", lazy: async () => ({ Component: (await import("./pages/NotFoundPage")).NotFoundPage }) },
    ],
  },
]);
