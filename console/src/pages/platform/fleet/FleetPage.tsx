import Alert from "@cloudscape-design/components/alert";
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import ColumnLayout from "@cloudscape-design/components/column-layout";
import Container from "@cloudscape-design/components/container";
import Header from "@cloudscape-design/components/header";
import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import SpaceBetween from "@cloudscape-design/components/space-between";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import { useNavigate } from "react-router";
import { type Node, useNodes } from "../../../api/queries/nodes";
import { type Overview, useOverview } from "../../../api/queries/overview";
import { useSkus } from "../../../api/queries/skus";
import { Link } from "../../../parts/Link";
import { Page } from "../../../parts/Page";
import { View } from "../../../parts/View";
import { Seen } from "../Seen";
import { concerns } from "./attention";
import { FamilyBars } from "./FamilyBars";
import { inFleet, isSelling, tally } from "./faces";
import { Operations, Queues, Requests, Workers } from "./Pulse";
import { Legend, SlotMap } from "./SlotMap";

export function FleetPage() {
  const overview = useOverview();
  const nodes = useNodes();
  return (
    <Page
      title="Fleet"
      about="Everything the platform has and does, at a glance. A square is a slot: one GPU with all that goes with it, sold only once an operator approved it."
      description={<Seen of={overview} />}
    >
      <SpaceBetween size="l">
        <View of={overview} what="overview">
          {(seen) => <Attention overview={seen} />}
        </View>
        <View of={nodes} what="nodes" isEmpty={(all) => inFleet(all).length === 0} empty={<NoNodes />}>
          {(all) => <Capacity nodes={inFleet(all)} />}
        </View>
        <View of={overview} what="overview">
          {(seen) => (
            <ColumnLayout columns={2}>
              <Operations overview={seen} />
              <Workers overview={seen} />
              <Requests overview={seen} />
              <Queues overview={seen} />
            </ColumnLayout>
          )}
        </View>
      </SpaceBetween>
    </Page>
  );
}

function Attention({ overview }: { overview: Overview }) {
  const found = concerns(overview);
  if (found.length === 0) return <StatusIndicator type="success">Nothing needs attention.</StatusIndicator>;
  return (
    <Alert type="warning" header="Needs attention">
      <ul className="concerns">
        {found.map(({ id, text, to, where }) => (
          <li key={id}>
            {text}: <Link to={to}>{where}</Link>
          </li>
        ))}
      </ul>
    </Alert>
  );
}

function Capacity({ nodes }: { nodes: readonly Node[] }) {
  const skus = useSkus();
  const counts = tally(nodes);
  const silent = nodes.filter(({ offline_since, intent }) => offline_since && intent !== "enrolling").length;
  return (
    <SpaceBetween size="l">
      <Container header={<Header variant="h2">Capacity</Header>}>
        <SpaceBetween size="l">
          <KeyValuePairs
            columns={4}
            items={[
              { label: "Available", value: <Box variant="awsui-value-large">{counts.free}</Box> },
              { label: "Used", value: <Box variant="awsui-value-large">{counts.used}</Box> },
              {
                label: "Out of service",
                value: <Box variant="awsui-value-large">{counts.blocked + counts.disabled + counts.withheld}</Box>,
              },
              {
                label: "Nodes in service",
                value: (
                  <>
                    <Box variant="awsui-value-large">
                      {nodes.filter(isSelling).length} of {nodes.length}
                    </Box>
                    {silent > 0 && (
                      <Box>
                        <StatusIndicator type="error">{silent} silent</StatusIndicator>
                      </Box>
                    )}
                  </>
                ),
              },
            ]}
          />
          <FamilyBars nodes={nodes} skus={skus.data ?? []} />
        </SpaceBetween>
      </Container>
      <Container
        header={
          <Header variant="h2" actions={<ToNodes />} description={<Legend counts={counts} />}>
            Slots
          </Header>
        }
      >
        <SlotMap nodes={nodes} />
      </Container>
    </SpaceBetween>
  );
}

function ToNodes() {
  const navigate = useNavigate();
  return <Button onClick={() => void navigate("/platform/nodes")}>All nodes</Button>;
}

function NoNodes() {
  const navigate = useNavigate();
  return (
    <Container>
      <Box textAlign="center" padding="l">
        <Box variant="h3">No node yet</Box>
        <Box padding={{ bottom: "s" }}>A machine becomes a node with a token that is good once and for minutes.</Box>
        <Button variant="primary" onClick={() => void navigate("/platform/nodes/enrol")}>
          Enrol a machine
        </Button>
      </Box>
    </Container>
  );
}
