import FormField from "@cloudscape-design/components/form-field";
import Input from "@cloudscape-design/components/input";
import { useState } from "react";
import { useChangeVolume, type Volume } from "../../api/queries/volumes";
import { nameMistake } from "../../launch/checks";
import { Dialog } from "../../parts/Dialog";

export function RenameVolume({ volume, onClose }: { volume: Volume; onClose: () => void }) {
  const [name, setName] = useState(volume.name);
  const change = useChangeVolume(volume.project_id, volume.id);
  const mistake = nameMistake(name);
  return (
    <Dialog
      title={`Rename ${volume.name}`}
      confirm="Rename"
      isReady={mistake === null && name !== volume.name}
      isPending={change.isPending}
      error={change.error}
      onConfirm={() => change.mutate({ name }, { onSuccess: onClose })}
      onCancel={onClose}
    >
      <FormField label="Name" errorText={mistake} constraintText="Where it is mounted stays as it is." stretch>
        <Input value={name} onChange={({ detail }) => setName(detail.value)} />
      </FormField>
    </Dialog>
  );
}
