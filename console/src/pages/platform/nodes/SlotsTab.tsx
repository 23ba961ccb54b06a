import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import ButtonDropdown from "@cloudscape-design/components/button-dropdown";
import { useState } from "react";
import { useAllocationsOnNode } from "../../../api/queries/adminAllocations";
import { type Node, type Slot, type SlotVerb, useSlots } from "../../../api/queries/nodes";
import { For } from "../../../parts/Ago";
import { bytes, MIB } from "../../../parts/bytes";
import { type Column, DataTable } from "../../../parts/DataTable";
import { Link } from "../../../parts/Link";
import { View } from "../../../parts/View";
import { FACES, faceOfSlot } from "../fleet/faces";
import { ForceCleanup } from "../operations/ForceDialogs";
import { canForceCleanup } from "../operations/stuck";
import { SlotDialog } from "./SlotDialog";

interface Row extends Slot {
  face: string;
  machine: string;
  canSettle: boolean;
}

type Act = { verb: SlotVerb; slots: readonly Slot[] } | { verb: "cleanup"; slot: Slot };

/** Every slot with all its parts, and what can be done to it. */
export function SlotsTab({ node }: { node: Node }) {
  const slots = useSlots(node.id);
  const machines = useAllocationsOnNode(node.id).data ?? [];
  const [act, setAct] = useState<Act | null>(null);
  const nameOf = (id: string | null) => machines.find((machine) => machine.id === id)?.name ?? id ?? "";
  return (
    <>
      <View of={slots} what="slots">
        {(all) => (
          <DataTable<Row>
            id="slots"
            title="Slots"
            what="slots"
            rows={all.map((slot) => ({
              ...slot,
              face: FACES[faceOfSlot(slot, node)].words,
              machine: nameOf(slot.allocation_id),
              canSettle: machines.some((machine) => machine.id === slot.allocation_id && canForceCleanup(machine)),
            }))}
            rowId={({ id }) => id}
            columns={columns(node, setAct)}
            filters={FILTERS}
            sorted={{ by: "index" }}
            isLastSticky
            actions={
              <ApproveAll slots={all} onApprove={(candidates) => setAct({ verb: "approve", slots: candidates })} />
            }
            empty={<Box textAlign="center">No slot was found on it yet.</Box>}
          />
        )}
      </View>
      {act?.verb === "cleanup" && (
        <ForceCleanup
          id={act.slot.allocation_id ?? ""}
          name={nameOf(act.slot.allocation_id)}
          onClose={() => setAct(null)}
        />
      )}
      {act && act.verb !== "cleanup" && <SlotDialog node={node} {...act} onClose={() => setAct(null)} />}
    </>
  );
}

const FILTERS = [
  { key: "face", propertyLabel: "State", groupValuesLabel: "States" },
  { key: "gpu_family", propertyLabel: "GPU", groupValuesLabel: "GPUs" },
  { key: "gpu_uuid", propertyLabel: "GPU UUID", groupValuesLabel: "GPU UUIDs" },
  { key: "machine", propertyLabel: "Machine", groupValuesLabel: "Machines" },
];

function columns(node: Node, onAct: (act: Act) => void): Column<Row>[] {
  return [
    { id: "index", header: "Slot", sortingField: "index", cell: ({ index }) => index },
    { id: "face", header: "State", sortingField: "face", cell: (slot) => <State slot={slot} node={node} /> },
    {
      id: "machine",
      header: "Machine",
      sortingField: "machine",
      cell: ({ allocation_id, machine }) =>
        allocation_id ? <Link to={`/platform/operations/${allocation_id}`}>{machine}</Link> : "–",
    },
    {
      id: "gpu",
      header: "GPU",
      sortingField: "gpu_family",
      cell: ({ gpu_family, gpu_pci, gpu_uuid }) => <Lines of={[gpu_family, gpu_pci, gpu_uuid]} />,
    },
    {
      id: "parts",
      header: "Fabric, NVMe, network",
      cell: ({ fabric_vf, nvme, mac, address }) => (
        <Lines of={[fabric_vf, nvme, [mac, address].filter(Boolean).join(" · ")]} />
      ),
    },
    {
      id: "share",
      header: "Share of the host",
      cell: ({ vcpus, memory_mib, numa }) => (
        <Lines
          of={[
            `${vcpus} ${vcpus === 1 ? "vCPU" : "vCPUs"}, ${bytes(memory_mib * MIB)}`,
            numa === null ? "NUMA not known" : `NUMA ${numa}`,
          ]}
        />
      ),
    },
    { id: "wipe", header: "Wiped by", cell: ({ wipe_policy }) => wipe_policy },
    { id: "act", header: "Change", cell: (slot) => <Change slot={slot} onAct={onAct} /> },
  ];
}

function State({ slot, node }: { slot: Slot; node: Node }) {
  const face = faceOfSlot(slot, node);
  const since = slot.cleanup_blocked_at ?? slot.disabled_at;
  return (
    <span className="slots">
      <span className="slot" data-face={face} aria-hidden="true" /> {FACES[face].words}
      {since && (
        <Box variant="small" color="text-body-secondary" display="block">
          <For since={since} />
        </Box>
      )}
    </span>
  );
}

function Lines({ of }: { of: readonly (string | null)[] }) {
  const [first, ...rest] = of;
  return (
    <>
      {first || "–"}
      {rest.map((line) => (
        <Box key={line} variant="small" color="text-body-secondary" display="block">
          {line || "–"}
        </Box>
      ))}
    </>
  );
}

function Change({ slot, onAct }: { slot: Row; onAct: (act: Act) => void }) {
  const items = [
    ...(slot.approved_by ? [] : [{ id: "approve", text: "Approve…" }]),
    ...(slot.approved_by && !slot.disabled_at ? [{ id: "disable", text: "Disable…" }] : []),
    ...(slot.approved_by && slot.disabled_at ? [{ id: "enable", text: "Enable…" }] : []),
    ...(slot.canSettle ? [{ id: "cleanup", text: "Cleanup verified…" }] : []),
  ];
  return (
    <ButtonDropdown
      variant="inline-icon"
      expandToViewport
      ariaLabel={`Change slot ${slot.index}`}
      items={items}
      onItemClick={({ detail: { id } }) =>
        onAct(id === "cleanup" ? { verb: id, slot } : { verb: id as SlotVerb, slots: [slot] })
      }
    />
  );
}

function ApproveAll({ slots, onApprove }: { slots: readonly Slot[]; onApprove: (candidates: Slot[]) => void }) {
  const candidates = slots.filter(({ status }) => status === "candidate");
  if (candidates.length < 2) return null;
  return <Button onClick={() => onApprove(candidates)}>Approve all {candidates.length} candidates</Button>;
}
