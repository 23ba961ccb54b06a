import Box from "@cloudscape-design/components/box";
import ColumnLayout from "@cloudscape-design/components/column-layout";
import FormField from "@cloudscape-design/components/form-field";
import Input from "@cloudscape-design/components/input";
import RadioGroup from "@cloudscape-design/components/radio-group";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Toggle from "@cloudscape-design/components/toggle";
import { type StorageBackend, useStorageBackends } from "../api/queries/volumes";
import type { components } from "../api/schema";
import { View } from "./View";

type Schemas = components["schemas"];

/** What durability means for somebody's data; "durable" is said only of what outlives a node. */
export const DURABILITY: Record<Schemas["Durability"], { word: string; meaning: string }> = {
  shared: {
    word: "Durable",
    meaning: "Outlives every machine and node; can be attached wherever the shared storage is mounted.",
  },
  node_bound: {
    word: "On one node",
    meaning: "Fast, but lost with that node's disk; machines using it are placed there.",
  },
};

export const WRITE_POLICY: Record<Schemas["WritePolicy"], { word: string; meaning: string }> = {
  single_writer: { word: "One writer", meaning: "One machine writes; any number may read." },
  multi_writer: {
    word: "Many writers",
    meaning: "Several machines write at once; your programs keep out of each other's way.",
  },
};

export const ACCESS_MODE: Record<Schemas["AccessMode"], string> = {
  read_write: "Read and write",
  read_only: "Read only",
};

export interface VolumeValues {
  name: string;
  sizeGib: string;
  backend: Schemas["Backend"];
  writePolicy: Schemas["WritePolicy"];
}

interface Props {
  values: VolumeValues;
  onChange: (patch: Partial<VolumeValues>) => void;
  mistakes: { name?: string | undefined; sizeGib?: string | undefined };
  /** A copy has to lie where its snapshot does. */
  isBackendFixed?: boolean;
}

/** What a new volume is to be; the same in the wizard and on the volumes page. */
export function VolumeFields({ values, onChange, mistakes, isBackendFixed = false }: Props) {
  return (
    <SpaceBetween size="m">
      <ColumnLayout columns={2}>
        <FormField label="Name" errorText={mistakes.name} stretch>
          <Input
            value={values.name}
            placeholder="training-data"
            onChange={({ detail }) => onChange({ name: detail.value })}
          />
        </FormField>
        <FormField label="Size in GiB" errorText={mistakes.sizeGib} stretch>
          <Input
            type="number"
            inputMode="numeric"
            value={values.sizeGib}
            onChange={({ detail }) => onChange({ sizeGib: detail.value })}
          />
        </FormField>
      </ColumnLayout>
      <View of={useStorageBackends()} what="kinds of storage">
        {(backends) => (
          <ColumnLayout columns={isBackendFixed ? 1 : 2}>
            {!isBackendFixed && <BackendChoice values={values} onChange={onChange} backends={backends} />}
            <PolicyChoice
              values={values}
              onChange={onChange}
              backend={backends.find(({ backend }) => backend === values.backend)}
            />
          </ColumnLayout>
        )}
      </View>
    </SpaceBetween>
  );
}

function BackendChoice({
  values,
  onChange,
  backends,
}: Pick<Props, "values" | "onChange"> & { backends: StorageBackend[] }) {
  return (
    <FormField label="Kept on">
      <RadioGroup
        value={values.backend}
        onChange={({ detail }) =>
          onChange({ backend: detail.value as Schemas["Backend"], writePolicy: "single_writer" })
        }
        items={backends.map(({ backend, title, durability }) => ({
          value: backend,
          label: DURABILITY[durability].word,
          description: `${title}. ${DURABILITY[durability].meaning}`,
        }))}
      />
    </FormField>
  );
}

function PolicyChoice({
  values,
  onChange,
  backend,
}: Pick<Props, "values" | "onChange"> & { backend: StorageBackend | undefined }) {
  const policies: Schemas["WritePolicy"][] = ["single_writer", "multi_writer"];
  const isOffered = backend?.multi_writer ?? false;
  return (
    <FormField label="Writers">
      <RadioGroup
        value={values.writePolicy}
        onChange={({ detail }) => onChange({ writePolicy: detail.value as Schemas["WritePolicy"] })}
        items={policies.map((policy) => ({
          value: policy,
          label: WRITE_POLICY[policy].word,
          description:
            policy === "multi_writer" && !isOffered
              ? "Offered once this storage has passed its conformance run; an operator starts it."
              : WRITE_POLICY[policy].meaning,
          disabled: policy === "multi_writer" && !isOffered,
        }))}
      />
    </FormField>
  );
}

interface ReadOnlyProps {
  accessMode: Schemas["AccessMode"];
  onChange: (accessMode: Schemas["AccessMode"]) => void;
}

export function ReadOnly({ accessMode, onChange }: ReadOnlyProps) {
  return (
    <Toggle
      checked={accessMode === "read_only"}
      onChange={({ detail }) => onChange(detail.checked ? "read_only" : "read_write")}
      description="Any number of machines can read the same volume."
    >
      Mount read-only
    </Toggle>
  );
}

/** Where inside the machine, and what may be done there. */
export function MountedAt({ attachment }: { attachment: Pick<Schemas["Attachment"], "mount_path" | "access_mode"> }) {
  return (
    <>
      <code>{attachment.mount_path}</code>
      <Box variant="small" display="block" color="text-body-secondary">
        {ACCESS_MODE[attachment.access_mode]}
      </Box>
    </>
  );
}
