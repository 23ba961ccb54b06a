import Box from "@cloudscape-design/components/box";
import Container from "@cloudscape-design/components/container";
import Header from "@cloudscape-design/components/header";
import KeyValuePairs, { type KeyValuePairsProps } from "@cloudscape-design/components/key-value-pairs";
import SpaceBetween from "@cloudscape-design/components/space-between";
import type { Allocation } from "../../api/queries/allocations";
import { usePerson } from "../../api/queries/members";
import { Ago } from "../../parts/Ago";
import { Copy } from "../../parts/Copy";
import { AllocationStatus, HEALTH, Label } from "../../parts/StatusLabel";
import { inside } from "../../parts/sizeWords";
import { gpus } from "./dialogs/sizes";
import { ImageWords, OutdatedImage } from "./ImageWords";
import { IsolationWords } from "./IsolationWords";

export function StatusCard({ allocation }: { allocation: Allocation }) {
  const person = usePerson(allocation.project_id);
  const { sku, size, slots, node, boot, holder, requested_by, created_at, resize, gpu_count } = allocation;
  const items: KeyValuePairsProps.Item[] = [
    { label: "Status", value: <Status allocation={allocation} /> },
    { label: "Health", value: <Health allocation={allocation} /> },
    {
      label: "SKU and size",
      value: `${sku}, ${gpus(gpu_count)}, ${size}${allocation.simulated ? " (simulated)" : ""}`,
    },
    { label: "vCPU, memory and root disk", value: inside(allocation) },
    { label: "Init", value: allocation.init },
    { label: "Base image", value: <ImageWords allocation={allocation} /> },
    ...(resize ? [{ label: "Resize under way", value: `to ${gpus(resize.gpu_count)}, ${resize.size}` }] : []),
    { label: "GPUs", value: <Slots slots={slots} simulated={allocation.simulated} /> },
    {
      label: "Region and node",
      value: (
        <>
          {node.region}, <Copy text={node.id} what="the node's id" />
        </>
      ),
    },
    { label: "Boot", value: boot === 1 ? "1, never restarted" : `${boot}` },
    { label: "Holder", value: person(holder) },
    {
      label: "Requested",
      value: (
        <>
          <Ago at={created_at} />
          {requested_by !== holder && ` by ${person(requested_by)}`}
        </>
      ),
    },
    { label: "Id", value: <Copy text={allocation.id} what="the machine's id" /> },
    { label: "Isolation, as reported", value: <IsolationWords allocation={allocation} /> },
  ];
  return (
    <Container header={<Header>Status</Header>}>
      <SpaceBetween size="l">
        <KeyValuePairs columns={3} minColumnWidth={200} items={items} />
        <OutdatedImage allocation={allocation} />
      </SpaceBetween>
    </Container>
  );
}

function Status({ allocation: { status, status_since, status_reason } }: { allocation: Allocation }) {
  return (
    <>
      <AllocationStatus status={status} /> <Ago at={status_since} />
      {status_reason && <Box color="text-body-secondary">{status_reason}</Box>}
    </>
  );
}

/** Each reason with since when and what to do. */
function Health({ allocation: { health, health_reasons = [] } }: { allocation: Allocation }) {
  return (
    <SpaceBetween size="xxs">
      <Label look={HEALTH[health]} />
      {health_reasons.map(({ code, words, since, next_step }) => (
        <Box key={code + since}>
          {words}{" "}
          <Box color="text-body-secondary" display="inline">
            (<Ago at={since} />) {next_step}
          </Box>
        </Box>
      ))}
    </SpaceBetween>
  );
}

function Slots({ slots, simulated }: { slots: Allocation["slots"]; simulated: boolean }) {
  if (slots.length === 0) return <>None claimed</>;
  return (
    <details>
      <summary>
        {slots.length === 1 ? "Slot" : "Slots"} {slots.map(({ index }) => index).join(", ")}
        {simulated && ", simulated: no real GPU is behind"}
      </summary>
      {slots.map(({ index, gpu_uuid, numa }) => (
        <Box key={index} variant="small" display="block">
          {index}: <code>{gpu_uuid}</code>
          {numa !== null && numa !== undefined && `, NUMA ${numa}`}
        </Box>
      ))}
    </details>
  );
}
