import ButtonDropdown from "@cloudscape-design/components/button-dropdown";
import Container from "@cloudscape-design/components/container";
import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Tabs from "@cloudscape-design/components/tabs";
import { useState } from "react";
import { useNavigate, useParams } from "react-router";
import { type Node, type NodeVerb, useChangeNode, useNode } from "../../../api/queries/nodes";
import { notify } from "../../../frame/notices";
import { For } from "../../../parts/Ago";
import { Copy } from "../../../parts/Copy";
import { Page } from "../../../parts/Page";
import { INTENT, Label } from "../../../parts/StatusLabel";
import { View } from "../../../parts/View";
import { ActDialog } from "../ActDialog";
import { SlotRow } from "../fleet/SlotMap";
import { NODES, PLATFORM } from "../paths";
import { Seen } from "../Seen";
import { FactsTab } from "./FactsTab";
import { MachinesTab } from "./MachinesTab";
import { MissingRequirements } from "./MissingRequirements";
import { Prepared } from "./Prepared";
import { LastSeen, Reach } from "./Reach";
import { SlotsTab } from "./SlotsTab";
import { UnknownEnvironments } from "./UnknownEnvironments";
import { UnknownVolumes } from "./UnknownVolumes";
import { objection, possibleVerbs, VERBS } from "./verbs";

export function NodePage() {
  const { nodeId = "" } = useParams();
  const node = useNode(nodeId);
  return (
    <Page
      title={node.data?.name ?? "Node"}
      about="What operators want of this node, whether it answers, and what each of its slots does. Only slots that an operator approved are sold."
      crumbs={[PLATFORM, NODES]}
      description={<Seen of={node} />}
      actions={node.data && <Actions node={node.data} />}
    >
      <View of={node} what="node">
        {(seen) => (
          <SpaceBetween size="l">
            <MissingRequirements node={seen} />
            <UnknownEnvironments node={seen} />
            <UnknownVolumes node={seen} />
            <Summary node={seen} />
            <Prepared node={seen} />
            <NodeTabs node={seen} />
          </SpaceBetween>
        )}
      </View>
    </Page>
  );
}

function Actions({ node }: { node: Node }) {
  const [verb, setVerb] = useState<NodeVerb | null>(null);
  const change = useChangeNode(node.id);
  const verbs = possibleVerbs(node);
  if (verbs.length === 0) return null;
  const close = () => {
    setVerb(null);
    change.reset();
  };
  const act = (chosen: NodeVerb, reason: string) =>
    change.mutate(
      { verb: chosen, reason },
      {
        onSuccess: ({ name }) => {
          notify("success", `${name} ${VERBS[chosen].done}`);
          close();
        },
      },
    );
  return (
    <>
      <ButtonDropdown
        variant="primary"
        items={verbs.map((each) => {
          const why = objection(each, node);
          return { id: each, text: `${VERBS[each].label}…`, ...(why ? { disabled: true, disabledReason: why } : {}) };
        })}
        onItemClick={({ detail }) => setVerb(verbs.find((each) => each === detail.id) ?? null)}
      >
        Change
      </ButtonDropdown>
      {verb && (
        <ActDialog
          title={`${VERBS[verb].label}: ${node.name}`}
          verb={VERBS[verb].label}
          {...VERBS[verb].says(node)}
          isReasonOptional={VERBS[verb].isReasonOptional ?? false}
          isPending={change.isPending}
          error={change.error}
          onAct={(reason) => act(verb, reason)}
          onClose={close}
        />
      )}
    </>
  );
}

function Summary({ node }: { node: Node }) {
  return (
    <Container>
      <KeyValuePairs
        columns={4}
        items={[
          { label: "Intent", value: <Intent node={node} /> },
          { label: "Reachable", value: <Reach node={node} /> },
          { label: "Last seen", value: <LastSeen node={node} /> },
          { label: "Slots", value: <SlotRow node={node} /> },
          { label: "Region", value: node.region },
          { label: "Engine", value: node.engine ? `${node.engine}${node.simulated ? ", simulated GPUs" : ""}` : "–" },
          { label: "Agent", value: node.agent_version || "–" },
          { label: "Id", value: <Copy text={node.id} what="the node's id" /> },
        ]}
      />
    </Container>
  );
}

function Intent({ node: { intent, intent_since, intent_reason } }: { node: Node }) {
  return (
    <>
      <Label look={INTENT[intent]} /> <For since={intent_since} />
      {intent_reason && <div>{intent_reason}</div>}
    </>
  );
}

function NodeTabs({ node }: { node: Node }) {
  const { tab = "slots" } = useParams();
  const navigate = useNavigate();
  const base = `/platform/nodes/${node.id}`;
  return (
    <Tabs
      activeTabId={tab}
      onChange={({ detail }) => void navigate(detail.activeTabId === "slots" ? base : `${base}/${detail.activeTabId}`)}
      tabs={[
        { id: "slots", label: "Slots", content: <SlotsTab node={node} /> },
        { id: "machines", label: "Machines", content: <MachinesTab node={node} /> },
        { id: "facts", label: "Facts", content: <FactsTab node={node} /> },
      ]}
      i18nStrings={{ scrollLeftAriaLabel: "Earlier tabs", scrollRightAriaLabel: "Later tabs" }}
      ariaLabel={`About ${node.name}`}
    />
  );
}
