import Alert from "@cloudscape-design/components/alert";
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import FormField from "@cloudscape-design/components/form-field";
import Input from "@cloudscape-design/components/input";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useState } from "react";
import type { Node } from "../../../api/queries/nodes";
import {
  type UnknownVolume,
  useAdoptVolume,
  useRemoveVolume,
  useUnknownVolumes,
} from "../../../api/queries/unknownVolumes";
import { notify } from "../../../frame/notices";
import { Ago } from "../../../parts/Ago";
import { Copy } from "../../../parts/Copy";
import { type Column, DataTable } from "../../../parts/DataTable";
import { ActDialog } from "../ActDialog";

interface Act {
  verb: "adopt" | "remove";
  of: UnknownVolume;
}

/** Volumes that the database does not know keep their data until an operator adopts or removes them. */
export function UnknownVolumes({ node }: { node: Node }) {
  const unknown = useUnknownVolumes(node.id);
  const [act, setAct] = useState<Act | null>(null);
  if (!unknown.data?.length) return null;
  return (
    <SpaceBetween size="s">
      <Alert type="warning" header="Unknown volumes">
        This node sees volumes that the database does not know, for example after a restore from a backup. Their data is
        kept. Adopt a volume to restore it in its project, or remove it.
      </Alert>
      <DataTable
        id="unknown-volumes"
        title="Unknown volumes"
        what="volumes"
        rows={unknown.data}
        rowId={({ volume_id }) => volume_id}
        columns={columns(setAct)}
        isPlain
        empty={<Box textAlign="center">The database knows every volume.</Box>}
      />
      {act?.verb === "adopt" && <AdoptDialog node={node} of={act.of} onClose={() => setAct(null)} />}
      {act?.verb === "remove" && <RemoveDialog node={node} of={act.of} onClose={() => setAct(null)} />}
    </SpaceBetween>
  );
}

function columns(onAct: (act: Act) => void): Column<UnknownVolume>[] {
  return [
    { id: "id", header: "Volume", cell: ({ volume_id }) => <Copy text={volume_id} what="the volume's id" /> },
    { id: "backend", header: "Backend", cell: ({ backend }) => backend },
    { id: "record", header: "Record on disk", cell: (one) => <Ownership of={one} /> },
    { id: "mounted", header: "Mounted in", cell: (one) => users(one).join(", ") || "None" },
    { id: "seen", header: "First seen", cell: ({ first_seen_at }) => <Ago at={first_seen_at} /> },
    { id: "removal", header: "Removal", cell: removal },
    {
      id: "acts",
      header: "Actions",
      cell: (one) => (
        <SpaceBetween direction="horizontal" size="xs">
          <Button
            variant="inline-link"
            disabled={one.ownership === null}
            disabledReason="There is no record of its owner."
            ariaLabel={`Adopt ${one.volume_id}`}
            onClick={() => onAct({ verb: "adopt", of: one })}
          >
            Adopt
          </Button>
          <Button
            variant="inline-link"
            ariaLabel={`Remove ${one.volume_id}`}
            onClick={() => onAct({ verb: "remove", of: one })}
          >
            Remove
          </Button>
        </SpaceBetween>
      ),
    },
  ];
}

const users = ({ sightings }: UnknownVolume) => [...new Set(sightings.flatMap(({ mounted_in }) => mounted_in))];

function removal({ removal_note, removal_requested_at }: UnknownVolume): string {
  return removal_note || (removal_requested_at ? "Requested" : "–");
}

function Ownership({ of: { ownership, detail } }: { of: UnknownVolume }) {
  if (ownership === null) return <>{detail || "No record"}</>;
  return (
    <>
      {ownership.name}, {ownership.size_gib} GiB
      <Box variant="small" color="text-body-secondary" display="block">
        Project {ownership.project_id}, created by {ownership.created_by}
      </Box>
    </>
  );
}

interface DialogProps {
  node: Node;
  of: UnknownVolume;
  onClose: () => void;
}

function AdoptDialog({ node, of, onClose }: DialogProps) {
  const adopt = useAdoptVolume(node.id);
  const recorded = of.ownership?.name ?? of.volume_id;
  const [name, setName] = useState("");
  const done = () => {
    notify("success", `${name || recorded} is adopted`);
    onClose();
  };
  return (
    <ActDialog
      title={`Adopt ${recorded}`}
      verb="Adopt"
      does="Restores the volume from the record on disk: same project, size, backend and write policy."
      survives="All of its data."
      isPending={adopt.isPending}
      error={adopt.error}
      onAct={(reason) => adopt.mutate({ id: of.volume_id, reason, name }, { onSuccess: done })}
      onClose={onClose}
    >
      <FormField label="Another name" description="Needed only if the project has a volume of this name.">
        <Input
          value={name}
          placeholder={recorded}
          spellcheck={false}
          onChange={({ detail }) => setName(detail.value)}
        />
      </FormField>
    </ActDialog>
  );
}

function RemoveDialog({ node, of, onClose }: DialogProps) {
  const remove = useRemoveVolume(node.id);
  const [typed, setTyped] = useState("");
  const done = () => {
    notify("success", "The removal is requested");
    onClose();
  };
  return (
    <ActDialog
      title="Remove the unknown volume"
      verb="Remove"
      does="A node that sees the volume erases its data and proves that nothing of it is left."
      lost="All data of the volume. This cannot be undone."
      survives="Snapshots of the volume."
      isReady={typed === of.volume_id}
      isPending={remove.isPending}
      error={remove.error}
      onAct={(reason) => remove.mutate({ id: of.volume_id, reason }, { onSuccess: done })}
      onClose={onClose}
    >
      <FormField label={`Type ${of.volume_id} to confirm`}>
        <Input value={typed} spellcheck={false} onChange={({ detail }) => setTyped(detail.value)} />
      </FormField>
    </ActDialog>
  );
}
