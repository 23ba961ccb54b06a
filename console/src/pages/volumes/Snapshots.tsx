import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import Cards from "@cloudscape-design/components/cards";
import FormField from "@cloudscape-design/components/form-field";
import Header from "@cloudscape-design/components/header";
import Input from "@cloudscape-design/components/input";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useState } from "react";
import { useNavigate } from "react-router";
import {
  type Snapshot,
  useDeleteSnapshot,
  useSnapshots,
  useTakeSnapshot,
  type Volume,
} from "../../api/queries/volumes";
import { may } from "../../frame/permissions";
import { LOOKS_ON } from "../../frame/project";
import { nameMistake } from "../../launch/checks";
import { Ago } from "../../parts/Ago";
import { bytes } from "../../parts/bytes";
import { Consequences } from "../../parts/Consequences";
import { Dialog } from "../../parts/Dialog";
import { QuotaLeft } from "../../parts/QuotaLeft";
import { Label, SNAPSHOT } from "../../parts/StatusLabel";
import { View } from "../../parts/View";
import { sentence } from "../../parts/words";
import { CreateVolume } from "./CreateVolume";

type Open = { what: "take" } | { what: "restore" | "delete"; snapshot: Snapshot } | null;

export function Snapshots({ volume }: { volume: Volume }) {
  const [open, setOpen] = useState<Open>(null);
  const navigate = useNavigate();
  const close = () => setOpen(null);
  return (
    <View of={useSnapshots(volume.id)} what="snapshots">
      {(snapshots) => (
        <>
          <List volume={volume} snapshots={snapshots.filter(({ status }) => status !== "deleted")} onOpen={setOpen} />
          {open?.what === "take" && <Take volume={volume} onClose={close} />}
          {open?.what === "delete" && <Delete snapshot={open.snapshot} onClose={close} />}
          {open?.what === "restore" && (
            <CreateVolume
              projectId={volume.project_id}
              from={{ volume, snapshot: open.snapshot }}
              onCancel={close}
              onDone={({ id }) => {
                close();
                void navigate(`/projects/${volume.project_id}/volumes/${id}`);
              }}
            />
          )}
        </>
      )}
    </View>
  );
}

function List({ volume, snapshots, onOpen }: { volume: Volume; snapshots: Snapshot[]; onOpen: (open: Open) => void }) {
  const works = may(volume, "volumes:write");
  return (
    <div>
      <Box padding={{ bottom: "s" }}>
        <Header
          variant="h2"
          counter={`(${snapshots.length})`}
          description="A copy of one moment. Restoring it makes a new volume and leaves this one as it is."
          actions={
            <Button
              disabled={!works || volume.status !== "available"}
              disabledReason={works ? "A snapshot needs a volume that is available." : LOOKS_ON}
              onClick={() => onOpen({ what: "take" })}
            >
              Take a snapshot
            </Button>
          }
        >
          Snapshots
        </Header>
      </Box>
      <Cards<Snapshot>
        items={snapshots}
        trackBy="id"
        cardsPerRow={[{ cards: 1 }, { minWidth: 560, cards: 2 }, { minWidth: 1100, cards: 3 }]}
        ariaLabels={{ itemSelectionLabel: (_, { name }) => name, selectionGroupLabel: "Snapshots" }}
        cardDefinition={{
          header: ({ name }) => name,
          sections: [
            { id: "status", content: (snapshot) => <Status snapshot={snapshot} /> },
            { id: "how", content: ({ consistency }) => sentence(consistency) },
            { id: "actions", content: (snapshot) => works && <RowActions snapshot={snapshot} onOpen={onOpen} /> },
          ],
        }}
        empty={<Box color="text-body-secondary">None yet. Take one before something risky.</Box>}
      />
    </div>
  );
}

function Status({ snapshot: { status, status_reason, size_bytes, created_at } }: { snapshot: Snapshot }) {
  return (
    <>
      <div>
        <Label look={SNAPSHOT[status]} />
      </div>
      <Box variant="small" color="text-body-secondary">
        {size_bytes !== null && `${bytes(size_bytes)}, `}
        taken <Ago at={created_at} />
        {status === "failed" && `. ${sentence(status_reason)}`}
      </Box>
    </>
  );
}

function RowActions({ snapshot, onOpen }: { snapshot: Snapshot; onOpen: (open: Open) => void }) {
  if (snapshot.status === "creating" || snapshot.status === "deleting") return null;
  return (
    <SpaceBetween direction="horizontal" size="xs">
      {snapshot.status === "ready" && (
        <Button ariaLabel={`Restore ${snapshot.name}`} onClick={() => onOpen({ what: "restore", snapshot })}>
          Restore
        </Button>
      )}
      <Button ariaLabel={`Delete ${snapshot.name}`} onClick={() => onOpen({ what: "delete", snapshot })}>
        Delete
      </Button>
    </SpaceBetween>
  );
}

function Take({ volume, onClose }: { volume: Volume; onClose: () => void }) {
  const [name, setName] = useState(() => `${volume.name}-${new Date().toISOString().slice(0, 10)}`);
  const take = useTakeSnapshot(volume.id);
  const mistake = nameMistake(name);
  const isWritten = volume.attachments.some(({ access_mode }) => access_mode === "read_write");
  return (
    <Dialog
      title={`Take a snapshot of ${volume.name}`}
      confirm="Take it"
      isReady={mistake === null}
      isPending={take.isPending}
      error={take.error}
      onConfirm={() => take.mutate(name, { onSuccess: onClose })}
      onCancel={onClose}
    >
      {isWritten && (
        <Box>
          A machine writes to it now. The snapshot says how it was taken; stop writing for a moment if every file has to
          match.
        </Box>
      )}
      <FormField label="Name" errorText={mistake} stretch>
        <Input value={name} onChange={({ detail }) => setName(detail.value)} />
      </FormField>
      <QuotaLeft projectId={volume.project_id} of={["snapshots"]} />
    </Dialog>
  );
}

function Delete({ snapshot, onClose }: { snapshot: Snapshot; onClose: () => void }) {
  const remove = useDeleteSnapshot(snapshot.volume_id);
  return (
    <Dialog
      title={`Delete the snapshot ${snapshot.name}?`}
      confirm="Delete for good"
      isPending={remove.isPending}
      error={remove.error}
      onConfirm={() => remove.mutate(snapshot.id, { onSuccess: onClose })}
      onCancel={onClose}
    >
      <Consequences lost="This copy, for good." stays="The volume, and every volume that was restored from it." />
    </Dialog>
  );
}
