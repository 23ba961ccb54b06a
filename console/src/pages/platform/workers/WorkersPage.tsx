import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import SpaceBetween from "@cloudscape-design/components/space-between";
import StatusIndicator, { type StatusIndicatorProps } from "@cloudscape-design/components/status-indicator";
import { useState } from "react";
import { useOverview } from "../../../api/queries/overview";
import { useSwitchWorker, useWorkers, type WorkerStatus } from "../../../api/queries/workers";
import { notify } from "../../../frame/notices";
import { Ago, duration } from "../../../parts/Ago";
import { type Column, DataTable } from "../../../parts/DataTable";
import { Page } from "../../../parts/Page";
import { View } from "../../../parts/View";
import { ActDialog } from "../ActDialog";
import { Queues } from "../fleet/Pulse";
import { PLATFORM } from "../paths";
import { Seen } from "../Seen";
import { healthOf } from "./health";

const LOOKS: Record<ReturnType<typeof healthOf>, StatusIndicatorProps.Type> = {
  "Switched off": "stopped",
  Failing: "error",
  Behind: "warning",
  Well: "success",
};

const FILTERS = [
  { key: "worker", propertyLabel: "Worker", groupValuesLabel: "Workers" },
  { key: "health", propertyLabel: "Health", groupValuesLabel: "Healths" },
  { key: "last_error", propertyLabel: "Last error", groupValuesLabel: "Errors" },
];

function columns(onSwitch: (worker: WorkerStatus) => void): Column<WorkerStatus>[] {
  return [
    { id: "worker", header: "Worker", sortingField: "worker", cell: ({ worker }) => worker.replaceAll("_", " ") },
    { id: "health", header: "Health", sortingField: "health", cell: (worker) => <Health worker={worker} /> },
    { id: "due", header: "Due", sortingField: "due", cell: ({ due }) => due },
    { id: "leased", header: "In hand", sortingField: "leased", cell: ({ leased }) => leased },
    { id: "failing", header: "Failing", sortingField: "failing", cell: ({ failing }) => failing },
    {
      id: "oldest",
      header: "Oldest waits",
      sortingField: "oldest_due_seconds",
      cell: ({ oldest_due_seconds: oldest }) => (oldest === null ? "–" : duration(oldest)),
    },
    { id: "error", header: "Last error", cell: ({ last_error }) => (last_error ? <code>{last_error}</code> : "–") },
    {
      id: "switch",
      header: "Switch",
      cell: (worker) => (
        <Button
          variant="inline-link"
          ariaLabel={`${worker.disabled_at ? "Switch on" : "Switch off"} ${worker.worker}`}
          onClick={() => onSwitch(worker)}
        >
          {worker.disabled_at ? "Switch on" : "Switch off"}
        </Button>
      ),
    },
  ];
}

export function WorkersPage() {
  const workers = useWorkers();
  const overview = useOverview();
  const [switched, setSwitched] = useState<WorkerStatus | null>(null);
  return (
    <Page
      title="Workers and queues"
      about="A worker looks for rows that need something done and does it, on every replica. Switching one off is breaking the glass: what it cares for stands still until it is on again, and then it catches up by itself."
      crumbs={[PLATFORM]}
      description={<Seen of={workers} />}
    >
      <SpaceBetween size="l">
        <View of={workers} what="workers">
          {(all) => (
            <DataTable
              id="workers"
              title="Workers"
              what="workers"
              rows={all.map((worker) => ({ ...worker, health: healthOf(worker) }))}
              rowId={({ worker }) => worker}
              columns={columns(setSwitched)}
              filters={FILTERS}
              sorted={{ by: "worker" }}
              isLastSticky
              empty={<Box textAlign="center">This server runs no workers.</Box>}
            />
          )}
        </View>
        <View of={overview} what="queues">
          {(seen) => <Queues overview={seen} />}
        </View>
      </SpaceBetween>
      {switched && <SwitchDialog worker={switched} onClose={() => setSwitched(null)} />}
    </Page>
  );
}

function Health({ worker }: { worker: WorkerStatus }) {
  const health = healthOf(worker);
  return (
    <>
      <StatusIndicator type={LOOKS[health]}>{health}</StatusIndicator>
      {worker.disabled_at && (
        <Box variant="small" color="text-body-secondary" display="block">
          <Ago at={worker.disabled_at} />
          {worker.disabled_reason && `: ${worker.disabled_reason}`}
        </Box>
      )}
    </>
  );
}

function SwitchDialog({
  worker: { worker, due, disabled_at },
  onClose,
}: {
  worker: WorkerStatus;
  onClose: () => void;
}) {
  const switching = useSwitchWorker();
  const on = disabled_at !== null;
  const name = worker.replaceAll("_", " ");
  const says = on
    ? { does: `It works again on every replica, and catches up by itself with ${due} due.` }
    : {
        does: "Breaks the glass: no replica starts anything for this worker, until you switch it on again.",
        lost: "Everything it cares for stands still, for all tenants: things stay on their way, or stuck.",
        survives: "What it has in hand it finishes. No work is lost; it waits.",
      };
  const onSuccess = () => {
    notify(on ? "success" : "warning", `The worker ${name} is ${on ? "on" : "off"}`);
    onClose();
  };
  return (
    <ActDialog
      title={`${on ? "Switch on" : "Switch off"} the worker ${name}`}
      verb={on ? "Switch on" : "Switch off"}
      {...says}
      isReasonOptional={on}
      isPending={switching.isPending}
      error={switching.error}
      onAct={(reason) => switching.mutate({ worker, on, reason }, { onSuccess })}
      onClose={onClose}
    />
  );
}
