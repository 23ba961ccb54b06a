import Alert from "@cloudscape-design/components/alert";
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import ColumnLayout from "@cloudscape-design/components/column-layout";
import Container from "@cloudscape-design/components/container";
import Header from "@cloudscape-design/components/header";
import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { asProblem } from "../../api/problem";
import { useOperation } from "../../api/queries/operations";
import { type AllocationRuntime, type RuntimeBundle, useChangeRuntime } from "../../api/queries/runtimes";
import { notifyProblem } from "../../frame/notices";
import { Ago } from "../../parts/Ago";
import { Copy, CopyLine } from "../../parts/Copy";
import { PhaseBars } from "../../parts/PhaseBars";
import { Label, RUNTIME } from "../../parts/StatusLabel";
import { View } from "../../parts/View";
import { sentence } from "../../parts/words";
import type { Choice } from "./RuntimeDialog";

interface NowProps {
  runtime: AllocationRuntime;
  bundles: readonly RuntimeBundle[];
  canChange: boolean;
  onOpen: (choice: Choice) => void;
}

/** What is wanted, what is in force, and what can be done about it. */
export function RuntimeNow(props: NowProps) {
  const { runtime, canChange } = props;
  const { state, bundle, observed_bundle, reason } = runtime;
  return (
    <Container
      header={
        <Header variant="h2" actions={canChange && <Actions {...props} />}>
          Runtime of this machine
        </Header>
      }
    >
      <SpaceBetween size="m">
        {state === "failed" && (
          <Alert type="error" header="It could not be applied">
            {sentence(reason)} The machine is untouched. Repair it to try again, choose another, or remove it.
          </Alert>
        )}
        {bundle || observed_bundle ? <Facts runtime={runtime} /> : <Raw state={state} />}
        {runtime.operation_id && state !== "applied" && state !== "cleared" && (
          <Progress operationId={runtime.operation_id} allocationId={runtime.allocation_id} />
        )}
        {runtime.activate && <Inside activate={runtime.activate} slug={observed_bundle?.slug ?? ""} />}
      </SpaceBetween>
    </Container>
  );
}

function Raw({ state }: { state: AllocationRuntime["state"] }) {
  return (
    <>
      <Label look={RUNTIME[state]} />
      <Box color="text-body-secondary">Apply a bundle below whenever you like; no restart is needed.</Box>
    </>
  );
}

function Facts({ runtime }: { runtime: AllocationRuntime }) {
  const { state, bundle, observed_bundle } = runtime;
  return (
    <KeyValuePairs
      columns={3}
      minColumnWidth={260}
      items={[
        { label: "State", value: <Label look={RUNTIME[state]} /> },
        { label: "Wanted", value: named(bundle) },
        {
          label: "In force",
          value: (
            <>
              {named(observed_bundle)}
              {observed_bundle && runtime.last_applied_at && (
                <Box variant="small" display="block" color="text-body-secondary">
                  applied <Ago at={runtime.last_applied_at} />, seen at boot {runtime.observed_boot}
                </Box>
              )}
            </>
          ),
        },
        { label: "Health", value: <Health runtime={runtime} /> },
        {
          label: "Rolls back to",
          value: earlier(runtime) ? named(earlier(runtime)) : "Nothing else was here before",
        },
        { label: "For programs", value: <Copy text={runtime.descriptor} what="the path of the descriptor" /> },
      ]}
    />
  );
}

/** Phase by phase while it is laid down, which can take minutes; and where it stopped, when it did. */
function Progress({ operationId, allocationId }: { operationId: string; allocationId: string }) {
  return (
    <View of={useOperation(operationId, allocationId)} what="progress">
      {(operation) => <PhaseBars operation={operation} />}
    </View>
  );
}

/** Shown when it was looked at, with what was found; otherwise that nobody knows. */
function Health({ runtime: { health, checked_at, state, staging } }: { runtime: AllocationRuntime }) {
  if (state === "applying") return staging === "staging" ? "Being laid down on the node" : "Not known yet";
  if (!health) return <Box color="text-status-inactive">Nothing to check</Box>;
  return (
    <>
      <code className="break-anywhere">{health}</code>
      {checked_at && (
        <Box variant="small" display="block" color="text-body-secondary">
          files compared <Ago at={checked_at} />
        </Box>
      )}
    </>
  );
}

function Inside({ activate, slug }: { activate: string; slug: string }) {
  return (
    <ColumnLayout columns={2}>
      <CopyLine
        label="Open a shell with it, inside"
        what="the command for a shell"
        text={`gpuaas-runtime use ${slug}`}
      />
      <CopyLine label="Or in your own shell" what="the line for your own shell" text={activate} />
    </ColumnLayout>
  );
}

/** What was removed can be had back too. */
function Actions({ runtime, bundles, onOpen }: NowProps) {
  const repair = useChangeRuntime(runtime.allocation_id);
  const { bundle } = runtime;
  const before = earlier(runtime);
  const newer = bundle && newerThan(bundle.id, bundles);
  return (
    <SpaceBetween direction="horizontal" size="xs">
      {newer && <Button onClick={() => onOpen({ verb: "upgrade", bundle: newer })}>Upgrade to {newer.version}</Button>}
      {before && <Button onClick={() => onOpen({ verb: "roll_back", bundle: before })}>Roll back</Button>}
      {bundle && (
        <Button
          loading={repair.isPending}
          onClick={() =>
            repair.mutate({ action: "repair", reason: "" }, { onError: (error) => notifyProblem(asProblem(error)) })
          }
        >
          Repair
        </Button>
      )}
      {bundle && <Button onClick={() => onOpen({ verb: "clear", bundle })}>Remove</Button>}
    </SpaceBetween>
  );
}

/** What a roll back leads to: after a removal the one before may be the one that is wanted again. */
function earlier({ bundle, previous_bundle }: AllocationRuntime): AllocationRuntime["bundle"] {
  return previous_bundle?.id === bundle?.id ? null : previous_bundle;
}

/** The catalog is newest first; an upgrade leads to the newest of the same name that is supported and fits. */
function newerThan(id: string, bundles: readonly RuntimeBundle[]): RuntimeBundle | undefined {
  const here = bundles.find((bundle) => bundle.id === id);
  if (!here) return undefined;
  const newest = bundles.find(
    ({ slug, state, support_level, compatibility }) =>
      slug === here.slug && state === "published" && support_level === here.support_level && compatibility?.compatible,
  );
  return newest && newest.id !== id ? newest : undefined;
}

function named(bundle: AllocationRuntime["bundle"]): string {
  return bundle ? `${bundle.product_name} ${bundle.version}` : "None: raw compute";
}
