import Alert from "@cloudscape-design/components/alert";
import FormField from "@cloudscape-design/components/form-field";
import Input from "@cloudscape-design/components/input";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useState } from "react";
import { useDeleteVolume, useSnapshots, type Volume } from "../../api/queries/volumes";
import { Consequences } from "../../parts/Consequences";
import { Dialog } from "../../parts/Dialog";
import { AttachedTo } from "./AttachedTo";
import { usedWords } from "./Usage";

/** Data goes for good, so the name is typed; what stands in the way is said before it is tried. */
export function DeleteVolume({ volume, onClose }: { volume: Volume; onClose: () => void }) {
  const [typed, setTyped] = useState("");
  const remove = useDeleteVolume(volume.project_id, volume.id);
  const snapshots = (useSnapshots(volume.id).data ?? []).filter(({ status }) => status !== "deleted");
  const isFree = volume.attachments.length === 0 && snapshots.length === 0;
  return (
    <Dialog
      title={`Delete ${volume.name}?`}
      confirm="Delete for good"
      isReady={isFree && typed === volume.name}
      isPending={remove.isPending}
      error={remove.error}
      onConfirm={() => remove.mutate(undefined, { onSuccess: onClose })}
      onCancel={onClose}
    >
      {isFree ? (
        <SpaceBetween size="m">
          <Consequences
            lost={`Everything on it (${usedWords(volume)}), for good. No copy is kept; that it is gone is proven and shown.`}
            stays="Its history and audit, and volumes that were restored from snapshots of it."
          />
          <FormField label={`Type ${volume.name} to confirm`}>
            <Input
              value={typed}
              onChange={({ detail }) => setTyped(detail.value)}
              autoComplete={false}
              spellcheck={false}
            />
          </FormField>
        </SpaceBetween>
      ) : (
        <InTheWay volume={volume} snapshots={snapshots.length} />
      )}
    </Dialog>
  );
}

function InTheWay({ volume, snapshots }: { volume: Volume; snapshots: number }) {
  return (
    <Alert type="info" header="Not yet: it is in use">
      {volume.attachments.length > 0 && (
        <div>
          Detach it first from:
          <AttachedTo volume={volume} />
        </div>
      )}
      {snapshots > 0 && (
        <div>Delete its {snapshots === 1 ? "snapshot" : `${snapshots} snapshots`} first, on the Snapshots tab.</div>
      )}
    </Alert>
  );
}
