import SideNavigation, { type SideNavigationProps } from "@cloudscape-design/components/side-navigation";
import { useLocation, useNavigate } from "react-router";
import { type Project, useIsOperator, useProject } from "./project";

function ofProject({ id }: Project): SideNavigationProps.Item[] {
  const base = `/projects/${id}`;
  return [
    {
      type: "section",
      text: "Compute",
      items: [
        { type: "link", text: "Machines", href: `${base}/allocations` },
        { type: "link", text: "Launch", href: `${base}/launch` },
      ],
    },
    { type: "section", text: "Storage", items: [{ type: "link", text: "Volumes", href: `${base}/volumes` }] },
  ];
}

const OF_OPERATOR: SideNavigationProps.Item[] = [
  {
    type: "section",
    text: "Platform",
    items: [
      { type: "link", text: "Fleet", href: "/platform" },
      { type: "link", text: "Nodes", href: "/platform/nodes" },
      { type: "link", text: "Operations", href: "/platform/operations" },
      { type: "link", text: "Workers and queues", href: "/platform/workers" },
      { type: "link", text: "Runtime bundles", href: "/platform/runtime-bundles" },
    ],
  },
];

/** Only what exists; a page joins here when it is there. */
export function Navigation() {
  const project = useProject();
  const isOperator = useIsOperator();
  const { pathname } = useLocation();
  const navigate = useNavigate();
  const items = [...(project ? ofProject(project) : []), ...(isOperator ? OF_OPERATOR : [])];
  return (
    <SideNavigation
      items={items}
      activeHref={longestMatch(items, pathname)}
      onFollow={(event) => {
        if (event.detail.external) return;
        event.preventDefault();
        void navigate(event.detail.href);
      }}
    />
  );
}

/** A detail page lights the list it belongs to. */
function longestMatch(items: readonly SideNavigationProps.Item[], pathname: string): string {
  const hrefs = items
    .flatMap((item) => ("items" in item ? item.items : [item]))
    .map((item) => ("href" in item ? item.href : ""));
  const under = hrefs.filter((href) => href && (pathname === href || pathname.startsWith(`${href}/`)));
  return under.sort((a, b) => b.length - a.length)[0] ?? "";
}
