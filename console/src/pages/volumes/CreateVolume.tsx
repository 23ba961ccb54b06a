import Box from "@cloudscape-design/components/box";
import { useState } from "react";
import { type Snapshot, useCreateVolume, type Volume } from "../../api/queries/volumes";
import { nameMistake, sizeMistake } from "../../launch/checks";
import { Dialog } from "../../parts/Dialog";
import { QuotaLeft } from "../../parts/QuotaLeft";
import { VolumeFields, type VolumeValues } from "../../parts/VolumeFields";

interface Props {
  projectId: string;
  /** Filled from this, when it is a restore. */
  from?: { volume: Volume; snapshot: Snapshot };
  onDone: (volume: Volume) => void;
  onCancel: () => void;
}

export function CreateVolume({ projectId, from, onDone, onCancel }: Props) {
  const [values, setValues] = useState<VolumeValues>(() => initial(from));
  const [isChecked, setIsChecked] = useState(false);
  const create = useCreateVolume(projectId);
  const mistakes = {
    name: nameMistake(values.name) ?? undefined,
    sizeGib: mistakeOfSize(values.sizeGib, from?.volume),
  };
  const save = () => {
    setIsChecked(true);
    if (mistakes.name || mistakes.sizeGib) return;
    const { name, sizeGib, backend, writePolicy } = values;
    const filled = from ? { snapshot_id: from.snapshot.id } : {};
    create.mutate(
      { name, size_gib: Number(sizeGib), backend, write_policy: writePolicy, ...filled },
      { onSuccess: onDone },
    );
  };
  return (
    <Dialog
      title={from ? `Restore ${from.snapshot.name} into a new volume` : "New volume"}
      confirm={from ? "Restore" : "Make the volume"}
      onConfirm={save}
      onCancel={onCancel}
      isPending={create.isPending}
      error={create.error}
    >
      {from && <Box>The volume and the snapshot stay as they are; the new volume gets a copy.</Box>}
      <VolumeFields
        values={values}
        onChange={(patch) => setValues({ ...values, ...patch })}
        mistakes={isChecked ? mistakes : {}}
        isBackendFixed={from !== undefined}
      />
      <QuotaLeft projectId={projectId} of={["volumes", "storage_gib"]} />
    </Dialog>
  );
}

function initial(from: Props["from"]): VolumeValues {
  if (!from) return { name: "", sizeGib: "100", backend: "shared", writePolicy: "single_writer" };
  const { volume, snapshot } = from;
  return {
    name: `${snapshot.name}-restored`,
    sizeGib: String(volume.size_gib),
    backend: volume.backend,
    writePolicy: volume.write_policy,
  };
}

function mistakeOfSize(text: string, source: Volume | undefined): string | undefined {
  const wrong = sizeMistake(text);
  if (wrong) return wrong;
  if (source && Number(text) < source.size_gib)
    return `At least the ${source.size_gib} GiB of the volume it was taken of.`;
  return undefined;
}
