import type { RouteObject } from "react-router";

/** Operators' pages, each its own chunk; nobody else gets past the first. */
export const platform: RouteObject = {
  path: "platform",
  lazy: async () => ({ Component: (await import("./OperatorOnly")).OperatorOnly }),
  children: [
    { index: true, lazy: async () => ({ Component: (await import("./fleet/FleetPage")).FleetPage }) },
    { path: "nodes", lazy: async () => ({ Component: (await import("./nodes/NodesPage")).NodesPage }) },
    { path: "nodes/enrol", lazy: async () => ({ Component: (await import("./nodes/EnrolPage")).EnrolPage }) },
    { path: "nodes/:nodeId/:tab?", lazy: async () => ({ Component: (await import("./nodes/NodePage")).NodePage }) },
    {
      path: "operations",
      lazy: async () => ({ Component: (await import("./operations/OperationsPage")).OperationsPage }),
    },
    {
      path: "operations/:allocationId/:tab?",
      lazy: async () => ({ Component: (await import("./operations/InspectPage")).InspectPage }),
    },
    { path: "workers", lazy: async () => ({ Component: (await import("./workers/WorkersPage")).WorkersPage }) },
    {
      path: "runtime-bundles",
      lazy: async () => ({ Component: (await import("./bundles/BundlesPage")).BundlesPage }),
    },
    {
      path: "runtime-bundles/publish",
      lazy: async () => ({ Component: (await import("./bundles/PublishPage")).PublishPage }),
    },
    {
      path: "runtime-bundles/:bundleId/nodes/:nodeId",
      lazy: async () => ({ Component: (await import("./bundles/StagingPage")).StagingPage }),
    },
    {
      path: "runtime-bundles/:bundleId/:tab?",
      lazy: async () => ({ Component: (await import("./bundles/BundlePage")).BundlePage }),
    },
  ],
};
