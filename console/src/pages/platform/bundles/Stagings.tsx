import Box from "@cloudscape-design/components/box";
import { type RuntimeBundle, type Staging, useStagings } from "../../../api/queries/adminRuntimes";
import { Ago, For } from "../../../parts/Ago";
import { bytes } from "../../../parts/bytes";
import { type Column, DataTable } from "../../../parts/DataTable";
import { Link } from "../../../parts/Link";
import { Label, STAGING } from "../../../parts/StatusLabel";
import { View } from "../../../parts/View";

const COLUMNS: readonly Column<Staging>[] = [
  {
    id: "node",
    header: "Node",
    sortingField: "node_name",
    cell: ({ bundle_id, node_id, node_name }) => (
      <Link to={`/platform/runtime-bundles/${bundle_id}/nodes/${node_id}`}>{node_name}</Link>
    ),
  },
  { id: "status", header: "Status", sortingField: "status", cell: ({ status }) => <Label look={STAGING[status]} /> },
  {
    id: "since",
    header: "How long",
    sortingField: "status_since",
    cell: ({ status_since }) => <For since={status_since} />,
  },
  { id: "why", header: "Why", cell: ({ reason }) => reason || "–" },
  { id: "health", header: "What its check said", cell: ({ health }) => health || "–" },
  {
    id: "size",
    header: "On disk",
    sortingField: "bytes",
    cell: ({ files, bytes: size }) => (files ? `${bytes(size)}, ${files.toLocaleString()} files` : "–"),
  },
  {
    id: "checked",
    header: "Files compared",
    sortingField: "checked_at",
    cell: ({ checked_at }) => (checked_at ? <Ago at={checked_at} /> : "not yet"),
  },
  { id: "drift", header: "Drift", cell: ({ drift }) => (drift.length > 0 ? `${drift.length} put right` : "none") },
  { id: "use", header: "In use", sortingField: "in_use", cell: ({ in_use }) => in_use },
];

const FILTERS = [
  { key: "node_name", propertyLabel: "Node", groupValuesLabel: "Nodes" },
  { key: "status", propertyLabel: "Status", groupValuesLabel: Object.keys(STAGING).join(", ") },
  { key: "reason", propertyLabel: "Why", groupValuesLabel: "Reasons" },
];

export function Stagings({ bundle }: { bundle: RuntimeBundle }) {
  return (
    <View of={useStagings(bundle.id)} what="nodes">
      {(rows) => (
        <DataTable
          id="stagings"
          title="Staged on"
          what="nodes"
          rows={rows}
          rowId={({ id }) => id}
          columns={COLUMNS}
          filters={FILTERS}
          sorted={{ by: "node" }}
          empty={
            <Box textAlign="center" padding="l">
              <Box variant="h3">On no node yet</Box>
              <Box>Until it is staged, a machine that asks for it waits for its node to make it.</Box>
            </Box>
          }
        />
      )}
    </View>
  );
}
