import Alert from "@cloudscape-design/components/alert";
import Button from "@cloudscape-design/components/button";
import Container from "@cloudscape-design/components/container";
import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Tabs from "@cloudscape-design/components/tabs";
import { useState } from "react";
import { useNavigate, useParams } from "react-router";
import { type InspectedAllocation, useInspectedAllocation } from "../../../api/queries/adminAllocations";
import type { Allocation } from "../../../api/queries/allocations";
import { Ago, For } from "../../../parts/Ago";
import { Copy } from "../../../parts/Copy";
import { Page } from "../../../parts/Page";
import { AllocationStatus, BILLING, HEALTH, Label } from "../../../parts/StatusLabel";
import { View } from "../../../parts/View";
import { OPERATIONS, PLATFORM } from "../paths";
import { Seen } from "../Seen";
import { NodeLink } from "./columns";
import { Proofs, Tasks, Timeline } from "./evidence";
import { ForceCleanup, ForceRelease } from "./ForceDialogs";
import { canForceCleanup, canForceRelease } from "./stuck";

/** All there is to know of one machine, the node's own words included. */
export function InspectPage() {
  const { allocationId = "" } = useParams();
  const inspected = useInspectedAllocation(allocationId);
  const allocation = inspected.data?.allocation;
  return (
    <Page
      title={allocation?.name ?? "Machine"}
      about="Everything an operator needs to judge a stuck machine: its timeline, what its node was asked and answered, and every proof of its cleanup."
      crumbs={[PLATFORM, OPERATIONS]}
      description={<Seen of={inspected} />}
      actions={allocation && <Actions allocation={allocation} />}
    >
      <View of={inspected} what="machine">
        {(seen) => (
          <SpaceBetween size="l">
            <Reason allocation={seen.allocation} />
            <Summary {...seen} />
            <InspectTabs seen={seen} />
          </SpaceBetween>
        )}
      </View>
    </Page>
  );
}

function Actions({ allocation }: { allocation: Allocation }) {
  const [open, setOpen] = useState<"release" | "cleanup" | null>(null);
  const close = () => setOpen(null);
  return (
    <SpaceBetween direction="horizontal" size="xs">
      {canForceRelease(allocation) && <Button onClick={() => setOpen("release")}>Force-release</Button>}
      {canForceCleanup(allocation) && <Button onClick={() => setOpen("cleanup")}>Settle cleanup</Button>}
      {open === "release" && <ForceRelease id={allocation.id} name={allocation.name} onClose={close} />}
      {open === "cleanup" && <ForceCleanup id={allocation.id} name={allocation.name} onClose={close} />}
    </SpaceBetween>
  );
}

function Reason({ allocation: { status, status_reason, cleanup_proven } }: { allocation: Allocation }) {
  const isBad = status === "failed" || status === "release_failed" || status === "restart_failed";
  if (!isBad) return null;
  return (
    <Alert
      type={cleanup_proven ? "info" : "error"}
      header={cleanup_proven ? "It failed, and is proven gone" : "It needs a person"}
    >
      {status_reason || "No reason was told."}
      {!cleanup_proven && status !== "restart_failed" && (
        <div>Nobody pays for it. Its slots are not sold again until its cleanup is proven, by its node or by you.</div>
      )}
      {status === "restart_failed" && <div>Nobody pays for it. Its holder may restart or release it.</div>}
    </Alert>
  );
}

function Summary({ allocation: seen, holder_email }: InspectedAllocation) {
  return (
    <Container>
      <KeyValuePairs
        columns={4}
        items={[
          {
            label: "Status",
            value: (
              <>
                <AllocationStatus status={seen.status} /> <For since={seen.status_since} />
              </>
            ),
          },
          { label: "Health", value: <Label look={HEALTH[seen.health]} /> },
          { label: "Last progress", value: <Ago at={seen.last_progress_at} /> },
          { label: "Billing", value: <Label look={BILLING[seen.billing.state]} /> },
          { label: "Node", value: <NodeLink id={seen.node.id} /> },
          { label: "Slots", value: seen.slots.map(({ index }) => index).join(", ") || "none" },
          { label: "SKU", value: `${seen.sku}, ${seen.gpu_count} GPU${seen.gpu_count === 1 ? "" : "s"}` },
          { label: "Cleanup", value: seen.cleanup_proven ? "Proven" : "Not proven" },
          { label: "Id", value: <Copy text={seen.id} what="the machine's id" /> },
          { label: "Project", value: <Copy text={seen.project_id} what="the project's id" /> },
          { label: "Holder", value: <Copy text={holder_email || seen.holder} what="whom it belongs to" /> },
          { label: "Boot", value: seen.boot },
        ]}
      />
    </Container>
  );
}

function InspectTabs({ seen }: { seen: InspectedAllocation }) {
  const { tab = "timeline" } = useParams();
  const navigate = useNavigate();
  const base = `/platform/operations/${seen.allocation.id}`;
  return (
    <Tabs
      activeTabId={tab}
      onChange={({ detail: { activeTabId: to } }) => void navigate(to === "timeline" ? base : `${base}/${to}`)}
      tabs={[
        { id: "timeline", label: "Timeline", content: <Timeline entries={seen.timeline} /> },
        { id: "tasks", label: `Node tasks (${seen.tasks.length})`, content: <Tasks tasks={seen.tasks} /> },
        { id: "proofs", label: `Cleanup proofs (${seen.proofs.length})`, content: <Proofs proofs={seen.proofs} /> },
      ]}
      i18nStrings={{ scrollLeftAriaLabel: "Earlier tabs", scrollRightAriaLabel: "Later tabs" }}
      ariaLabel={`About ${seen.allocation.name}`}
    />
  );
}
