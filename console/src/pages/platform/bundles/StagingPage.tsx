import Alert from "@cloudscape-design/components/alert";
import Container from "@cloudscape-design/components/container";
import Header from "@cloudscape-design/components/header";
import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useParams } from "react-router";
import { type Staging, type StagingDetail, useBundle, useStaging } from "../../../api/queries/adminRuntimes";
import { Ago, For } from "../../../parts/Ago";
import { bytes } from "../../../parts/bytes";
import { Page } from "../../../parts/Page";
import { PhaseBars } from "../../../parts/PhaseBars";
import { Label, STAGING } from "../../../parts/StatusLabel";
import { View } from "../../../parts/View";
import "../../../parts/command.css";
import { NodeLink } from "../operations/columns";
import { BUNDLES, PLATFORM } from "../paths";
import { Seen } from "../Seen";

/** One bundle on one node: how it got there, phase by phase, and the proof that it works. */
export function StagingPage() {
  const { bundleId = "", nodeId = "" } = useParams();
  const staging = useStaging(bundleId, nodeId);
  const bundle = useBundle(bundleId).data?.bundle;
  const name = bundle ? `${bundle.product_name} ${bundle.version}` : "Bundle";
  return (
    <Page
      title={staging.data ? `On ${staging.data.staging.node_name}` : "Staging"}
      about="Staging downloads what the recipe locks, checks every file and runs the bundle's own check. What the check said is kept as evidence."
      crumbs={[PLATFORM, BUNDLES, { text: name, href: `/platform/runtime-bundles/${bundleId}` }]}
      description={<Seen of={staging} />}
    >
      <View of={staging} what="staging">
        {(seen) => (
          <SpaceBetween size="l">
            {seen.staging.status === "failed" && (
              <Alert type="error" header="It could not be staged here">
                {seen.staging.reason || "No reason was told."} Staging it again starts anew.
              </Alert>
            )}
            <Summary staging={seen.staging} />
            <Phases {...seen} />
            <Log logs={seen.logs} />
          </SpaceBetween>
        )}
      </View>
    </Page>
  );
}

function Summary({ staging }: { staging: Staging }) {
  return (
    <Container>
      <KeyValuePairs
        columns={4}
        items={[
          {
            label: "Status",
            value: (
              <>
                <Label look={STAGING[staging.status]} /> <For since={staging.status_since} />
              </>
            ),
          },
          { label: "Node", value: <NodeLink id={staging.node_id} /> },
          {
            label: "On disk",
            value: staging.files ? `${bytes(staging.bytes)}, ${staging.files.toLocaleString()} files` : "–",
          },
          { label: "Machines with it", value: staging.in_use },
          { label: "What its check said", value: staging.health || "–" },
          { label: "Staged", value: staging.staged_at ? <Ago at={staging.staged_at} /> : "not yet" },
          { label: "Files compared", value: staging.checked_at ? <Ago at={staging.checked_at} /> : "not yet" },
          { label: "Drift put right", value: staging.drift.join(", ") || "none" },
        ]}
      />
    </Container>
  );
}

const STATUS = {
  staging: "running",
  staged: "succeeded",
  removing: "running",
  removed: "succeeded",
  failed: "failed",
} as const;

function Phases({ staging: { status, status_since }, phases }: StagingDetail) {
  const ended_at = STATUS[status] === "running" ? null : status_since;
  const drawn = { phases, status: STATUS[status], started_at: phases[0]?.started_at ?? status_since, ended_at };
  return (
    <Container header={<Header variant="h2">Phases</Header>}>
      <PhaseBars operation={drawn} />
    </Container>
  );
}

function Log({ logs }: Pick<StagingDetail, "logs">) {
  return (
    <Container header={<Header variant="h2">What the node said</Header>}>
      {logs.length === 0 ? (
        "Nothing yet."
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: who has no mouse scrolls it with the keyboard
        <section className="command staging-log" tabIndex={0} aria-label="What the node said">
          {logs.map(({ line }) => line).join("\n")}
        </section>
      )}
    </Container>
  );
}
