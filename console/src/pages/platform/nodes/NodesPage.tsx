import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import { useNavigate } from "react-router";
import { type Node, useNodes } from "../../../api/queries/nodes";
import { type Column, DataTable } from "../../../parts/DataTable";
import { Link } from "../../../parts/Link";
import { Page } from "../../../parts/Page";
import { INTENT, Label } from "../../../parts/StatusLabel";
import { View } from "../../../parts/View";
import { tally } from "../fleet/faces";
import { SlotRow } from "../fleet/SlotMap";
import { PLATFORM } from "../paths";
import { Seen } from "../Seen";
import { LastSeen, Reach, reachOf } from "./Reach";

interface Row extends Node {
  reach: string;
  free: number;
  used: number;
  out: number;
}

function rowOf(node: Node): Row {
  const { free, used, blocked, disabled, withheld, missing, candidate } = tally([node]);
  return { ...node, reach: reachOf(node), free, used, out: blocked + disabled + withheld + missing + candidate };
}

const COLUMNS: readonly Column<Row>[] = [
  {
    id: "name",
    header: "Name",
    sortingField: "name",
    cell: (node) => <Link to={`/platform/nodes/${node.id}`}>{node.name}</Link>,
  },
  { id: "region", header: "Region", sortingField: "region", cell: ({ region }) => region },
  { id: "intent", header: "Intent", sortingField: "intent", cell: ({ intent }) => <Label look={INTENT[intent]} /> },
  { id: "reach", header: "Reachable", sortingField: "offline_since", cell: (node) => <Reach node={node} /> },
  { id: "slots", header: "Slots", cell: (node) => <SlotRow node={node} /> },
  { id: "free", header: "Free", sortingField: "free", cell: ({ free }) => free },
  { id: "used", header: "Claimed", sortingField: "used", cell: ({ used }) => used },
  { id: "out", header: "Out of sale", sortingField: "out", cell: ({ out }) => out },
  {
    id: "engine",
    header: "Engine",
    sortingField: "engine",
    isHidden: true,
    cell: ({ engine, simulated }) => (engine ? `${engine}${simulated ? " (simulated GPUs)" : ""}` : "–"),
  },
  {
    id: "agent",
    header: "Agent",
    sortingField: "agent_version",
    isHidden: true,
    cell: ({ agent_version }) => agent_version || "–",
  },
  {
    id: "seen",
    header: "Last seen",
    sortingField: "last_seen_at",
    isHidden: true,
    cell: (node) => <LastSeen node={node} />,
  },
];

const FILTERS = [
  { key: "name", propertyLabel: "Name", groupValuesLabel: "Names" },
  { key: "region", propertyLabel: "Region", groupValuesLabel: "Regions" },
  { key: "intent", propertyLabel: "Intent", groupValuesLabel: Object.keys(INTENT).join(", ") },
  { key: "reach", propertyLabel: "Reachable", groupValuesLabel: "Reachable" },
  { key: "engine", propertyLabel: "Engine", groupValuesLabel: "Engines" },
  { key: "agent_version", propertyLabel: "Agent", groupValuesLabel: "Agents" },
  { key: "id", propertyLabel: "Id", groupValuesLabel: "Ids" },
];

export function NodesPage() {
  const nodes = useNodes();
  const navigate = useNavigate();
  const enrol = (
    <Button variant="primary" onClick={() => void navigate("/platform/nodes/enrol")}>
      Enrol a machine
    </Button>
  );
  return (
    <Page
      title="Nodes"
      about="A node is a machine of the fleet. Its intent is what operators want of it; whether it answers is another matter and told apart."
      crumbs={[PLATFORM]}
      description={<Seen of={nodes} />}
    >
      <View of={nodes} what="nodes">
        {(rows) => (
          <DataTable
            id="nodes"
            title="Nodes"
            what="nodes"
            rows={rows.map(rowOf)}
            rowId={({ id }) => id}
            columns={COLUMNS}
            filters={FILTERS}
            actions={enrol}
            sorted={{ by: "name" }}
            empty={
              <Box textAlign="center" padding="l">
                <Box variant="h3">No node yet</Box>
                <Box padding={{ bottom: "s" }}>
                  A machine becomes a node with a token that is good once and for minutes.
                </Box>
                {enrol}
              </Box>
            }
          />
        )}
      </View>
    </Page>
  );
}
