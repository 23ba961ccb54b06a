import Box from "@cloudscape-design/components/box";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import { useUnsettledAllocations } from "../../../api/queries/adminAllocations";
import type { Allocation } from "../../../api/queries/allocations";
import { useNodes } from "../../../api/queries/nodes";
import { Ago, useNow } from "../../../parts/Ago";
import { type Column, DataTable } from "../../../parts/DataTable";
import { Page } from "../../../parts/Page";
import { BILLING, Label } from "../../../parts/StatusLabel";
import { View } from "../../../parts/View";
import { PLATFORM } from "../paths";
import { Seen } from "../Seen";
import { COLUMNS, FILTERS } from "./columns";
import { CARES, type Care, careFor, pressing } from "./stuck";

interface Row extends Allocation {
  care: Care;
  needs: string;
  isBlocked: boolean;
}

/** In the order an operator asks: what, does it need me, why, since when, where. */
const ORDER = ["name", "care", "status", "reason", "since", "node", "slots", "billing", "progress", "sku", "project"];
const OWN: readonly Column<Row>[] = [
  ...COLUMNS,
  {
    id: "care",
    header: "Needs",
    sortingField: "needs",
    cell: ({ care }: Row) => <StatusIndicator type={CARES[care].look}>{CARES[care].words}</StatusIndicator>,
  },
  {
    id: "progress",
    header: "Last progress",
    sortingField: "last_progress_at",
    cell: ({ last_progress_at }: Row) => <Ago at={last_progress_at} />,
  },
  { id: "billing", header: "Billing", cell: ({ billing }: Row) => <Label look={BILLING[billing.state]} /> },
  { id: "slots", header: "Slots", cell: ({ isBlocked }: Row) => (isBlocked ? "Cleanup blocked" : "Claimed") },
].sort((a, b) => ORDER.indexOf(a.id) - ORDER.indexOf(b.id));

/** What is stuck or on its way, across all tenants. */
export function OperationsPage() {
  const unsettled = useUnsettledAllocations();
  const nodes = useNodes().data ?? [];
  const now = useNow();
  const blocked = new Set(
    nodes.flatMap((node) =>
      (node.slots ?? []).filter((mark) => mark.cleanup_blocked).map((mark) => mark.allocation_id),
    ),
  );
  const rowOf = (allocation: Allocation): Row => {
    const care = careFor(allocation, now);
    return { ...allocation, care, needs: CARES[care].words, isBlocked: blocked.has(allocation.id) };
  };
  return (
    <Page
      title="Operations"
      about="Machines of all projects that are on their way, late or stuck. Nobody pays for what failed or could not be released; its slots are not sold again until its cleanup is proven."
      crumbs={[PLATFORM]}
      description={<Seen of={unsettled} />}
    >
      <View of={unsettled} what="operations">
        {(all) => (
          <DataTable
            id="operations"
            title="Stuck, failed or on their way"
            what="machines"
            rows={pressing(all.map(rowOf))}
            rowId={({ id }) => id}
            columns={OWN}
            filters={[{ key: "needs", propertyLabel: "Needs", groupValuesLabel: "Needs" }, ...FILTERS]}
            empty={
              <Box textAlign="center" padding="l">
                <Box variant="h3">All is at rest</Box>
                <Box>No machine is on its way, and none is stuck.</Box>
              </Box>
            }
          />
        )}
      </View>
    </Page>
  );
}
