import Box from "@cloudscape-design/components/box";
import Spinner from "@cloudscape-design/components/spinner";
import Tabs from "@cloudscape-design/components/tabs";
import { type ComponentType, lazy, Suspense } from "react";
import { Navigate, useNavigate, useParams } from "react-router";
import { load } from "../../api/chunks";
import { type Allocation, useAllocation } from "../../api/queries/allocations";
import { Page } from "../../parts/Page";
import { View } from "../../parts/View";
import { HeaderActions } from "./Actions";
import { BreakGlassAlert } from "./BreakGlassAlert";
import { FailedAlert } from "./FailedAlert";
import { OverviewTab } from "./OverviewTab";
import { StatusLine } from "./StatusLine";

export interface TabProps {
  allocation: Allocation;
}

interface MachineTab {
  id: string;
  label: string;
  Content: ComponentType<TabProps>;
}

/** What a tab is made of is loaded when it is first looked at. */
const TABS: readonly MachineTab[] = [
  { id: "overview", label: "Overview", Content: OverviewTab },
  {
    id: "access",
    label: "SSH access",
    Content: lazy(async () => ({ default: (await load(() => import("./AccessTab"))).AccessTab })),
  },
  {
    id: "storage",
    label: "Storage",
    Content: lazy(async () => ({ default: (await load(() => import("./StorageTab"))).StorageTab })),
  },
  {
    id: "runtime",
    label: "Runtime",
    Content: lazy(async () => ({ default: (await load(() => import("./RuntimeTab"))).RuntimeTab })),
  },
  {
    id: "metrics",
    label: "Metrics and health",
    Content: lazy(async () => ({ default: (await load(() => import("./MetricsTab"))).MetricsTab })),
  },
  {
    id: "activity",
    label: "Activity",
    Content: lazy(async () => ({ default: (await load(() => import("./ActivityTab"))).ActivityTab })),
  },
];

const ABOUT =
  "One machine: how to get in, how it is, what it costs and what happened to it. Everything here follows the machine by itself.";

export function DetailPage() {
  const { id = "", projectId = "" } = useParams();
  const seen = useAllocation(id);
  const view = (
    <View of={seen} what="details of the machine">
      {(allocation) => <Machine allocation={allocation} />}
    </View>
  );
  if (seen.data !== undefined) return view;
  return (
    <Page title="Machine" about={ABOUT} crumbs={[{ text: "Machines", href: `/projects/${projectId}/allocations` }]}>
      {view}
    </Page>
  );
}

function Machine({ allocation }: TabProps) {
  const { projectId, tab = "overview" } = useParams();
  const navigate = useNavigate();
  const list = `/projects/${allocation.project_id}/allocations`;
  const here = `${list}/${allocation.id}`;
  if (projectId !== allocation.project_id) return <Navigate to={here} replace />;
  const address = (id: string): string => (id === "overview" ? here : `${here}/${id}`);
  return (
    <Page
      title={allocation.name}
      about={ABOUT}
      crumbs={[{ text: "Machines", href: list }]}
      description={<StatusLine allocation={allocation} />}
      actions={<HeaderActions allocation={allocation} />}
    >
      <BreakGlassAlert allocation={allocation} />
      <FailedAlert allocation={allocation} />
      <Tabs
        ariaLabel={`Parts of ${allocation.name}`}
        i18nStrings={{ scrollLeftAriaLabel: "Earlier tabs", scrollRightAriaLabel: "Later tabs" }}
        activeTabId={TABS.some(({ id }) => id === tab) ? tab : "overview"}
        onChange={({ detail }) => void navigate(address(detail.activeTabId))}
        tabs={TABS.map(({ id, label, Content }) => ({
          id,
          label,
          href: address(id),
          content: (
            <Suspense fallback={<Loading />}>
              <Content allocation={allocation} />
            </Suspense>
          ),
        }))}
      />
    </Page>
  );
}

function Loading() {
  return (
    <Box textAlign="center" padding="l">
      <Spinner />
    </Box>
  );
}
