import Box from "@cloudscape-design/components/box";
import Container from "@cloudscape-design/components/container";
import FormField from "@cloudscape-design/components/form-field";
import Header from "@cloudscape-design/components/header";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Tiles from "@cloudscape-design/components/tiles";
import { type RuntimeBundle, useRuntimeBundles } from "../api/queries/runtimes";
import { View } from "../parts/View";
import { about, fits, offers } from "./bundles";
import type { StepProps } from "./step";

const NONE = "";

export function RuntimeStep(props: StepProps) {
  const bundles = useRuntimeBundles({ sku: props.choice.sku.sku });
  return (
    <Container header={<Header variant="h2">Managed runtime</Header>}>
      <SpaceBetween size="m">
        <View of={bundles} what="runtime bundles">
          {(seen) => <BundleChoice {...props} bundles={offers(seen)} />}
        </View>
        <Box variant="small" color="text-body-secondary">
          Managed bundles are supported and watched over. What you install yourself over SSH is yours, and nothing here
          touches it.
        </Box>
      </SpaceBetween>
    </Container>
  );
}

function BundleChoice({ draft, change, bundles }: StepProps & { bundles: RuntimeBundle[] }) {
  const chosen = draft.bundleSlug ?? bundles.find(({ id }) => id === draft.bundleId)?.slug ?? NONE;
  return (
    <FormField
      label="Bundle"
      description="Laid beside the machine, ready when you call it; no file of yours is changed. The machine is up before and without it."
      stretch
    >
      <Tiles
        value={chosen}
        ariaLabel="Bundle"
        onChange={({ detail }) => change({ bundleSlug: detail.value || null, bundleId: null })}
        items={[
          { value: NONE, label: "None", description: "Raw compute. A bundle can be applied later, without a restart." },
          ...bundles.map((bundle) => ({
            value: bundle.slug,
            label: bundle.product_name,
            description: <Described bundle={bundle} />,
            disabled: !fits(bundle),
          })),
        ]}
      />
    </FormField>
  );
}

function Described({ bundle }: { bundle: RuntimeBundle }) {
  const { compatibility } = bundle;
  return (
    <>
      <div>{about(bundle)}</div>
      {compatibility && !compatibility.compatible && <div>Does not fit: {compatibility.reason}</div>}
      {compatibility?.compatible && (
        <div>
          {compatibility.staged ? "Ready at once" : "Laid down first, which takes some minutes"}
          {compatibility.reason && `; ${compatibility.reason}`}
        </div>
      )}
    </>
  );
}
