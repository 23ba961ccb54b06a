import Box from "@cloudscape-design/components/box";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import type { CleanupProof, InspectedAllocation, NodeTask } from "../../../api/queries/adminAllocations";
import { Ago } from "../../../parts/Ago";
import { type Column, DataTable } from "../../../parts/DataTable";
import { Label, OUTCOME } from "../../../parts/StatusLabel";

type Entry = InspectedAllocation["timeline"][number];

const words = (name: string) => name.replaceAll(/[_.]/g, " ");

const ENTRIES: readonly Column<Entry>[] = [
  { id: "at", header: "When", sortingField: "id", cell: ({ at }) => <Ago at={at} /> },
  { id: "phase", header: "Phase", sortingField: "phase", cell: ({ phase }) => words(phase) },
  {
    id: "outcome",
    header: "Outcome",
    sortingField: "outcome",
    cell: ({ outcome }) => <Label look={OUTCOME[outcome]} />,
  },
  { id: "actor", header: "By", sortingField: "actor_name", cell: ({ actor_name }) => actor_name },
  { id: "note", header: "Note", cell: ({ note }) => note || "–" },
  { id: "evidence", header: "Evidence", cell: ({ evidence }) => <Facts of={evidence ?? {}} /> },
];

function Facts({ of }: { of: Record<string, unknown> }) {
  const said = Object.entries(of).map(
    ([name, value]) => `${words(name)}: ${typeof value === "string" ? value : JSON.stringify(value)}`,
  );
  return <>{said.join(", ") || "–"}</>;
}

export function Timeline({ entries }: { entries: readonly Entry[] }) {
  return (
    <DataTable
      id="inspected-timeline"
      title="Timeline"
      what="entries"
      description="Newest first, for operators in full"
      rows={entries}
      rowId={({ id }) => `${id}`}
      columns={ENTRIES}
      filters={[
        { key: "phase", propertyLabel: "Phase", groupValuesLabel: "Phases" },
        { key: "actor_name", propertyLabel: "By", groupValuesLabel: "Actors" },
        { key: "note", propertyLabel: "Note", groupValuesLabel: "Notes" },
      ]}
      sorted={{ by: "at", descending: true }}
      empty={<Box textAlign="center">Nothing happened yet.</Box>}
    />
  );
}

/** Statuses of a task are the agent's own; what is not known here is still shown. */
const TASK: Record<string, "success" | "error" | "pending" | "in-progress"> = {
  done: "success",
  failed: "error",
  refused: "error",
  expired: "error",
  queued: "pending",
  sent: "in-progress",
};

const TASKS: readonly Column<NodeTask>[] = [
  { id: "kind", header: "Task", sortingField: "seq", cell: ({ kind }) => <code>{kind}</code> },
  {
    id: "status",
    header: "Status",
    sortingField: "status",
    cell: ({ status }) => <StatusIndicator type={TASK[status] ?? "info"}>{words(status)}</StatusIndicator>,
  },
  { id: "boot", header: "Boot", sortingField: "boot", cell: ({ boot }) => boot },
  { id: "attempt", header: "Sent", sortingField: "attempt", cell: ({ attempt }) => `${attempt} ×` },
  { id: "created", header: "Asked", sortingField: "created_at", cell: ({ created_at }) => <Ago at={created_at} /> },
  {
    id: "ended",
    header: "Ended",
    sortingField: "ended_at",
    cell: ({ ended_at }) => (ended_at ? <Ago at={ended_at} /> : "not yet"),
  },
  { id: "reason", header: "Reason", cell: ({ reason }) => reason || "–" },
  { id: "detail", header: "In the node's words", cell: ({ detail }) => detail || "–" },
];

export function Tasks({ tasks }: { tasks: readonly NodeTask[] }) {
  return (
    <DataTable
      id="inspected-tasks"
      title="What its node was asked"
      what="tasks"
      rows={tasks}
      rowId={({ id }) => id}
      columns={TASKS}
      filters={[
        { key: "kind", propertyLabel: "Task", groupValuesLabel: "Tasks" },
        { key: "status", propertyLabel: "Status", groupValuesLabel: "Statuses" },
      ]}
      sorted={{ by: "kind", descending: true }}
      empty={<Box textAlign="center">No node was asked for anything.</Box>}
    />
  );
}

const PROOFS: readonly Column<CleanupProof>[] = [
  { id: "item", header: "Looked for", sortingField: "item", cell: ({ item }) => words(item) },
  {
    id: "ok",
    header: "Found",
    sortingField: "ok",
    cell: ({ ok }) => (
      <StatusIndicator type={ok ? "success" : "error"}>{ok ? "Nothing left" : "Something left"}</StatusIndicator>
    ),
  },
  { id: "evidence", header: "Evidence", cell: ({ evidence }) => evidence || "–" },
  { id: "at", header: "When", sortingField: "at", cell: ({ at }) => <Ago at={at} /> },
];

export function Proofs({ proofs }: { proofs: readonly CleanupProof[] }) {
  return (
    <DataTable
      id="inspected-proofs"
      title="Proofs of cleanup"
      what="proofs"
      rows={proofs}
      rowId={({ item, at }) => `${item} ${at}`}
      columns={PROOFS}
      filters={[{ key: "item", propertyLabel: "Looked for", groupValuesLabel: "Things looked for" }]}
      sorted={{ by: "at", descending: true }}
      empty={<Box textAlign="center">Nothing is proven yet.</Box>}
    />
  );
}
