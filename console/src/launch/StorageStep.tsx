import Alert from "@cloudscape-design/components/alert";
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import Container from "@cloudscape-design/components/container";
import FormField from "@cloudscape-design/components/form-field";
import Header from "@cloudscape-design/components/header";
import Input from "@cloudscape-design/components/input";
import Select from "@cloudscape-design/components/select";
import SpaceBetween from "@cloudscape-design/components/space-between";
import type { Volume } from "../api/queries/volumes";
import { QuotaLeft } from "../parts/QuotaLeft";
import { DURABILITY, ReadOnly, VolumeFields, WRITE_POLICY } from "../parts/VolumeFields";
import { freeMountPath, MOUNT_PATH_HINT, mountPathMistake } from "./checks";
import { type DraftVolume, newDraftVolume } from "./draft";
import { volumeObjection } from "./mistakes";
import type { StepProps } from "./step";

const MOST = 16;

export function StorageStep(props: StepProps & { volumes: readonly Volume[] }) {
  const { draft, change, volumes } = props;
  const add = (patch: Partial<DraftVolume>) => {
    const row = String(1 + Math.max(0, ...draft.volumes.map((volume) => Number(volume.row) || 0)));
    const path = freeMountPath(draft.volumes.map(({ mountPath }) => mountPath));
    change({ volumes: [...draft.volumes, { ...newDraftVolume(row, path), ...patch }] });
  };
  return (
    <SpaceBetween size="l">
      <Alert type="info" header="The machine's own disk does not last">
        Its home folder and everything else on it survive a restart, and are erased when the machine is released. What
        is to last belongs on a volume.
      </Alert>
      {draft.volumes.map((volume) => (
        <OneVolume key={volume.row} {...props} volume={volume} />
      ))}
      <SpaceBetween direction="horizontal" size="xs">
        <Button iconName="add-plus" disabled={draft.volumes.length >= MOST} onClick={() => add({ isNew: true })}>
          Make a new volume
        </Button>
        {volumes.length > 0 && (
          <Button iconName="add-plus" disabled={draft.volumes.length >= MOST} onClick={() => add({ isNew: false })}>
            Attach a volume you have
          </Button>
        )}
      </SpaceBetween>
      <QuotaLeft projectId={props.projectId} of={["volumes", "storage_gib"]} />
      {draft.volumes.length === 0 && (
        <Box color="text-body-secondary">
          No volume is fine too: one can be attached at any time while the machine runs.
        </Box>
      )}
    </SpaceBetween>
  );
}

type VolumeProps = StepProps & { volumes: readonly Volume[]; volume: DraftVolume };

function OneVolume(props: VolumeProps) {
  const { draft, change, volume, mistakes } = props;
  const set = (patch: Partial<DraftVolume>) =>
    change({ volumes: draft.volumes.map((each) => (each.row === volume.row ? { ...each, ...patch } : each)) });
  const title = volume.isNew ? "New volume" : "Volume you have";
  const remove = (
    <Button
      ariaLabel={`Remove ${volume.name || title}`}
      onClick={() => change({ volumes: draft.volumes.filter(({ row }) => row !== volume.row) })}
    >
      Remove
    </Button>
  );
  return (
    <Container
      header={
        <Header variant="h2" actions={remove}>
          {title}
        </Header>
      }
    >
      <SpaceBetween size="m">
        {volume.isNew ? (
          <VolumeFields
            values={volume}
            onChange={set}
            mistakes={{ name: mistakes[`${volume.row}.name`], sizeGib: mistakes[`${volume.row}.sizeGib`] }}
          />
        ) : (
          <VolumePicker {...props} set={set} />
        )}
        <MountPath {...props} set={set} />
        <ReadOnly accessMode={volume.accessMode} onChange={(accessMode) => set({ accessMode })} />
      </SpaceBetween>
    </Container>
  );
}

type SetProps = VolumeProps & { set: (patch: Partial<DraftVolume>) => void };

function VolumePicker({ volumes, volume, choice, mistakes, set }: SetProps) {
  const options = volumes.map((each) => ({
    value: each.id,
    label: each.name,
    description: `${each.size_gib} GiB · ${DURABILITY[each.durability].word} · ${WRITE_POLICY[each.write_policy].word}`,
    ...(volumeObjection(each, { accessMode: "read_only" }, choice.count) ? { disabled: true } : {}),
  }));
  const chosen = volumes.find(({ id }) => id === volume.volumeId);
  const objection = chosen ? volumeObjection(chosen, volume, choice.count) : null;
  return (
    <FormField
      label="Volume"
      errorText={mistakes[`${volume.row}.volumeId`] ?? objection}
      constraintText={
        chosen?.durability === "node_bound" && "It lies on one node's disk, so the machine will be placed on that node."
      }
      stretch
    >
      <Select
        placeholder="Choose a volume"
        selectedOption={options.find(({ value }) => value === volume.volumeId) ?? null}
        options={options}
        filteringType="auto"
        onChange={({ detail }) => set({ volumeId: detail.selectedOption.value ?? null })}
      />
    </FormField>
  );
}

/** Judged with every letter: a path that hides the system is easier to mend while it is in mind. */
function MountPath({ draft, volume, set }: SetProps) {
  const others = draft.volumes.filter(({ row }) => row !== volume.row).map(({ mountPath }) => mountPath);
  return (
    <FormField
      label="Mount path"
      description="Where it is found inside the machine."
      constraintText={MOUNT_PATH_HINT}
      errorText={mountPathMistake(volume.mountPath, others)}
      stretch
    >
      <Input
        value={volume.mountPath}
        onChange={({ detail }) => set({ mountPath: detail.value })}
        spellcheck={false}
        autoComplete={false}
      />
    </FormField>
  );
}
