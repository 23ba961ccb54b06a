import Alert from "@cloudscape-design/components/alert";
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import ColumnLayout from "@cloudscape-design/components/column-layout";
import Container from "@cloudscape-design/components/container";
import FormField from "@cloudscape-design/components/form-field";
import Header from "@cloudscape-design/components/header";
import Input from "@cloudscape-design/components/input";
import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import SpaceBetween from "@cloudscape-design/components/space-between";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import type { ReactNode } from "react";
import type { Problem } from "../api/problem";
import { useRuntimeBundles } from "../api/queries/runtimes";
import { usePlacement } from "../api/queries/skus";
import type { Volume } from "../api/queries/volumes";
import { Link } from "../parts/Link";
import { money, perHour, times } from "../parts/money";
import { ProblemAlert } from "../parts/ProblemAlert";
import { exceeded } from "../parts/quotaWords";
import { inside } from "../parts/sizeWords";
import { View } from "../parts/View";
import { ACCESS_MODE } from "../parts/VolumeFields";
import { gpus } from "./ComputeStep";
import type { DraftVolume } from "./draft";
import { additionOf, HOURS, IDLE, isRepriced } from "./draft";
import type { StepId } from "./mistakes";
import { Persists } from "./Persists";
import { RefusalAlert } from "./RefusalAlert";
import { refusalOf } from "./refusal";
import type { StepProps } from "./step";

interface Props extends StepProps {
  volumes: readonly Volume[];
  problem: Problem | null;
  goTo: (step: StepId) => void;
  startOver: () => void;
}

export function ReviewStep(props: Props) {
  const { problem } = props;
  const refusal = problem && refusalOf(problem);
  return (
    <SpaceBetween size="l">
      {problem && (refusal ? <RefusalAlert refusal={refusal} {...props} /> : <ProblemAlert problem={problem} />)}
      {problem?.code === "idempotency_key_reused" && <Button onClick={props.startOver}>Start a new launch</Button>}
      <Container header={<Header variant="h2">Price and place</Header>}>
        <ColumnLayout columns={2} variant="text-grid">
          <Cost {...props} />
          <Place {...props} hasRefusal={refusal !== null} />
        </ColumnLayout>
      </Container>
      <NameAndLimits {...props} />
      <Chosen {...props} />
      <Persists volumes={props.draft.volumes.map((volume) => volumeName(volume, props.volumes))} />
    </SpaceBetween>
  );
}

const HOURS_OF_DAY = 24;

function Cost({ choice, change }: StepProps) {
  const { sku, live, gpuCount, count } = choice;
  const hourly = times(sku.price_per_gpu_hour, gpuCount * count);
  return (
    <div>
      {live && isRepriced(choice) && (
        <Alert
          type="warning"
          header="The price changed since you chose it"
          action={<Button onClick={() => change({ offer: live })}>Accept the new price</Button>}
        >
          It is now {perHour(times(live.price_per_gpu_hour, gpuCount * count))}.
        </Alert>
      )}
      <Box variant="awsui-key-label">Price</Box>
      <Box fontSize="display-l" fontWeight="bold">
        {perHour(hourly)}
      </Box>
      <Box color="text-body-secondary">
        {money(times(hourly, HOURS_OF_DAY))} in a day. Counted from when it is active until you release it.
      </Box>
    </div>
  );
}

function Place(props: Props & { hasRefusal: boolean }) {
  const { choice, goTo } = props;
  const placement = usePlacement({
    project_id: props.projectId,
    sku: choice.sku.sku,
    gpu_count: choice.gpuCount,
    count: choice.count,
    ...(choice.size ? { size: choice.size.name } : {}),
    ...(choice.region ? { region: choice.region } : {}),
  });
  if (choice.live === null) {
    return (
      <Alert
        type="error"
        header="No longer offered"
        action={<Button onClick={() => goTo("compute")}>Choose another GPU type</Button>}
      >
        {choice.sku.title} was taken out of the catalog after you chose it.
      </Alert>
    );
  }
  return (
    <div>
      <Box variant="awsui-key-label">Where it would go now</Box>
      <View of={placement} what="where it would go">
        {(seen) => {
          const over = exceeded(seen.quota ?? [], additionOf(choice, props.draft.volumes));
          if (over.length > 0) return <OverQuota over={over} projectId={props.projectId} />;
          if (seen.fits)
            return <StatusIndicator>{`Fits, in ${[...new Set(seen.regions ?? [])].join(" and ")}`}</StatusIndicator>;
          return props.hasRefusal ? (
            <StatusIndicator type="warning">Does not fit now</StatusIndicator>
          ) : (
            <RefusalAlert refusal={seen} {...props} />
          );
        }}
      </View>
    </div>
  );
}

function OverQuota({ over, projectId }: { over: readonly string[]; projectId: string }) {
  return (
    <Alert type="warning" header="This exceeds the quota of the project">
      {over.map((line) => (
        <div key={line}>{line}</div>
      ))}
      <Link to={`/projects/${projectId}/quota`}>Quota of this project</Link>
    </Alert>
  );
}

function NameAndLimits({ draft, change, mistakes, choice }: Props) {
  return (
    <Container header={<Header variant="h2">Name and limits</Header>}>
      <ColumnLayout columns={3}>
        <FormField
          label="Name"
          errorText={mistakes.name}
          constraintText={choice.count > 1 ? "Each gets its number behind it." : "Empty: one is made up."}
        >
          <Input
            value={draft.name}
            placeholder="train-a"
            onChange={({ detail }) => change({ name: detail.value })}
            spellcheck={false}
          />
        </FormField>
        <FormField
          label="Release after hours"
          errorText={mistakes.expiresInHours}
          constraintText="Empty: it runs until you release it. You are warned before, and can extend it."
        >
          <Input
            type="number"
            inputMode="numeric"
            value={draft.expiresInHours}
            placeholder="never"
            nativeInputAttributes={{ min: HOURS.least, max: HOURS.most }}
            onChange={({ detail }) => change({ expiresInHours: detail.value })}
          />
        </FormField>
        <FormField
          label="Release when idle for minutes"
          errorText={mistakes.idleMinutes}
          constraintText="Empty: never for idleness. Sessions, processors and GPUs count as work."
        >
          <Input
            type="number"
            inputMode="numeric"
            value={draft.idleMinutes}
            placeholder="never"
            nativeInputAttributes={{ min: IDLE.least, max: IDLE.most }}
            onChange={({ detail }) => change({ idleMinutes: detail.value })}
          />
        </FormField>
      </ColumnLayout>
    </Container>
  );
}

function Chosen({ draft, choice, volumes, goTo }: Props) {
  const { sku, gpuCount, size, count, region } = choice;
  const edit = (step: StepId, what: string) => (
    <Button variant="inline-link" ariaLabel={`Change ${what}`} onClick={() => goTo(step)}>
      Change
    </Button>
  );
  const item = (label: string, step: StepId, value: ReactNode) => ({
    label,
    value: (
      <>
        {value} {edit(step, label.toLowerCase())}
      </>
    ),
  });
  return (
    <Container header={<Header variant="h2">What you chose</Header>}>
      <KeyValuePairs
        columns={2}
        minColumnWidth={260}
        items={[
          item(
            "Compute",
            "compute",
            `${count} × ${sku.title} with ${gpus(gpuCount)}${size ? `, ${inside(size)}, init ${size.init}` : ""}, in ${region ?? "any region"}${
              sku.simulated ? "; its GPUs are simulated" : ""
            }.`,
          ),
          item("Access", "access", choice.keys.map(({ title }) => title).join(", ") || "No key chosen."),
          item(
            "Storage",
            "storage",
            draft.volumes.length === 0
              ? "The machine's own disk only."
              : draft.volumes.map((volume) => (
                  <div key={volume.row}>
                    {volumeName(volume, volumes)} at <code>{volume.mountPath}</code>,{" "}
                    {ACCESS_MODE[volume.accessMode].toLowerCase()}
                  </div>
                )),
          ),
          item("Runtime", "runtime", <BundleName sku={sku.sku} slug={draft.bundleSlug} id={draft.bundleId} />),
        ]}
      />
    </Container>
  );
}

function BundleName({ sku, slug, id }: { sku: string; slug: string | null; id: string | null }) {
  const bundles = useRuntimeBundles({ sku }).data ?? [];
  if (slug === null && id === null) return "None: raw compute.";
  const found = bundles.find((bundle) => (id ? bundle.id === id : bundle.slug === slug));
  return found ? `${found.product_name}${id ? ` ${found.version}` : ", newest that fits"}.` : `${slug ?? id}`;
}

function volumeName(volume: DraftVolume, volumes: readonly Volume[]): string {
  if (volume.isNew) return `${volume.name || "New volume"} (new, ${volume.sizeGib} GiB)`;
  return volumes.find(({ id }) => id === volume.volumeId)?.name ?? "A volume";
}
