import type { RouteObject } from "react-router";
import { load } from "../../api/chunks";

/** Operators' pages, each its own chunk; nobody else gets past the first. */
export const platform: RouteObject = {
  path: "platform",
  lazy: async () => ({ Component: (await load(() => import("./OperatorOnly"))).OperatorOnly }),
  children: [
    { index: true, lazy: async () => ({ Component: (await load(() => import("./fleet/FleetPage"))).FleetPage }) },
    { path: "nodes", lazy: async () => ({ Component: (await load(() => import("./nodes/NodesPage"))).NodesPage }) },
    {
      path: "nodes/enrol",
      lazy: async () => ({ Component: (await load(() => import("./nodes/EnrolPage"))).EnrolPage }),
    },
    {
      path: "nodes/:nodeId/:tab?",
      lazy: async () => ({ Component: (await load(() => import("./nodes/NodePage"))).NodePage }),
    },
    {
      path: "operations",
      lazy: async () => ({ Component: (await load(() => import("./operations/OperationsPage"))).OperationsPage }),
    },
    {
      path: "operations/:allocationId/:tab?",
      lazy: async () => ({ Component: (await load(() => import("./operations/InspectPage"))).InspectPage }),
    },
    {
      path: "workers",
      lazy: async () => ({ Component: (await load(() => import("./workers/WorkersPage"))).WorkersPage }),
    },
    {
      path: "history",
      lazy: async () => ({ Component: (await load(() => import("./history/HistoryPage"))).HistoryPage }),
    },
    {
      path: "audit",
      lazy: async () => ({
        Component: (await load(() => import("./audit/PlatformAuditPage"))).PlatformAuditPage,
      }),
    },
    {
      path: "accounts/:kind?",
      lazy: async () => ({ Component: (await load(() => import("./accounts/AccountsPage"))).AccountsPage }),
    },
    {
      path: "accounts/:kind/:id",
      lazy: async () => ({ Component: (await load(() => import("./accounts/AccountPage"))).AccountPage }),
    },
    {
      path: "invariants",
      lazy: async () => ({ Component: (await load(() => import("./invariants/InvariantsPage"))).InvariantsPage }),
    },
    {
      path: "runtime-bundles",
      lazy: async () => ({ Component: (await load(() => import("./bundles/BundlesPage"))).BundlesPage }),
    },
    {
      path: "runtime-bundles/publish",
      lazy: async () => ({ Component: (await load(() => import("./bundles/PublishPage"))).PublishPage }),
    },
    {
      path: "runtime-bundles/:bundleId/nodes/:nodeId",
      lazy: async () => ({ Component: (await load(() => import("./bundles/StagingPage"))).StagingPage }),
    },
    {
      path: "runtime-bundles/:bundleId/:tab?",
      lazy: async () => ({ Component: (await load(() => import("./bundles/BundlePage"))).BundlePage }),
    },
  ],
};
