import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import FormField from "@cloudscape-design/components/form-field";
import Input from "@cloudscape-design/components/input";
import Select from "@cloudscape-design/components/select";
import { useState } from "react";
import { useNavigate } from "react-router";
import { asProblem } from "../../api/problem";
import type { Allocation } from "../../api/queries/allocations";
import { type Attachment, useAttachVolume } from "../../api/queries/attachments";
import { useVolumes, type Volume } from "../../api/queries/volumes";
import type { components } from "../../api/schema";
import { freeMountPath, MOUNT_PATH_HINT, mountPathMistake } from "../../launch/checks";
import { volumeObjection } from "../../launch/mistakes";
import { Dialog } from "../../parts/Dialog";
import { View } from "../../parts/View";
import { DURABILITY, ReadOnly } from "../../parts/VolumeFields";

type AccessMode = components["schemas"]["AccessMode"];

interface Props {
  allocation: Allocation;
  attachments: readonly Attachment[];
  onClose: () => void;
}

export function AttachDialog({ allocation, attachments, onClose }: Props) {
  const live = attachments.filter(({ status }) => status !== "detached" && status !== "failed");
  const taken = live.map(({ mount_path }) => mount_path);
  const [volumeId, setVolumeId] = useState<string | null>(null);
  const [path, setPath] = useState(() => freeMountPath(taken));
  const [accessMode, setAccessMode] = useState<AccessMode>("read_write");
  const volumes = useVolumes(allocation.project_id);
  const attach = useAttachVolume(allocation);
  const chosen = volumes.data?.find(({ id }) => id === volumeId);
  const objection = chosen ? (elsewhere(chosen, allocation) ?? volumeObjection(chosen, { accessMode })) : null;
  const wrongPath = mountPathMistake(path, taken);
  const isSecondWriter = attach.isError && asProblem(attach.error).code === "volume_in_use";
  return (
    <Dialog
      title={`Attach a volume to ${allocation.name}`}
      confirm="Attach"
      isReady={chosen !== undefined && objection === null && wrongPath === null}
      isPending={attach.isPending}
      error={attach.error}
      onConfirm={() =>
        attach.mutate({ volume_id: volumeId ?? "", mount_path: path, access_mode: accessMode }, { onSuccess: onClose })
      }
      onCancel={onClose}
    >
      <View
        of={volumes}
        what="volumes"
        isEmpty={(all) => all.length === 0}
        empty={<NoVolume projectId={allocation.project_id} />}
      >
        {(all) => (
          <FormField label="Volume" errorText={objection} stretch>
            <Picker
              volumes={all.filter(({ id }) => !live.some((each) => each.volume_id === id))}
              volumeId={volumeId}
              onChoose={setVolumeId}
            />
          </FormField>
        )}
      </View>
      {(objection !== null || isSecondWriter) && accessMode === "read_write" && (
        <Button onClick={() => setAccessMode("read_only")}>Mount it read-only instead</Button>
      )}
      <FormField label="Mount path" constraintText={MOUNT_PATH_HINT} errorText={wrongPath} stretch>
        <Input value={path} onChange={({ detail }) => setPath(detail.value)} spellcheck={false} autoComplete={false} />
      </FormField>
      <ReadOnly accessMode={accessMode} onChange={setAccessMode} />
    </Dialog>
  );
}

function elsewhere(volume: Volume, allocation: Allocation): string | null {
  if (volume.node_id === null || volume.node_id === allocation.node.id) return null;
  return "It lies on another node's disk. Launch a machine with it: that is then placed beside it.";
}

interface PickerProps {
  volumes: Volume[];
  volumeId: string | null;
  onChoose: (id: string | null) => void;
}

function Picker({ volumes, volumeId, onChoose }: PickerProps) {
  const options = volumes.map(({ id, name, size_gib, durability, status }) => ({
    value: id,
    label: name,
    description: `${size_gib} GiB · ${DURABILITY[durability].word}`,
    ...(status === "available" || status === "creating" ? {} : { disabled: true }),
  }));
  return (
    <Select
      placeholder="Choose a volume"
      empty="Every volume of the project is attached to this machine."
      options={options}
      filteringType="auto"
      selectedOption={options.find(({ value }) => value === volumeId) ?? null}
      onChange={({ detail }) => onChoose(detail.selectedOption.value ?? null)}
    />
  );
}

function NoVolume({ projectId }: { projectId: string }) {
  const navigate = useNavigate();
  return (
    <Box>
      The project has no volume yet.{" "}
      <Button variant="inline-link" onClick={() => void navigate(`/projects/${projectId}/volumes?new`)}>
        Make one
      </Button>
    </Box>
  );
}
