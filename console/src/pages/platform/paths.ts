/** The pages above an operator's page. */
export const PLATFORM = { text: "Fleet", href: "/platform" };
export const NODES = { text: "Nodes", href: "/platform/nodes" };
export const OPERATIONS = { text: "Operations", href: "/platform/operations" };
export const BUNDLES = { text: "Runtime bundles", href: "/platform/runtime-bundles" };
