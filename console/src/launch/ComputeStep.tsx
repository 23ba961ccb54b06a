import Alert from "@cloudscape-design/components/alert";
import Badge from "@cloudscape-design/components/badge";
import Box from "@cloudscape-design/components/box";
import Cards from "@cloudscape-design/components/cards";
import ColumnLayout from "@cloudscape-design/components/column-layout";
import Container from "@cloudscape-design/components/container";
import FormField from "@cloudscape-design/components/form-field";
import Header from "@cloudscape-design/components/header";
import Input from "@cloudscape-design/components/input";
import RadioGroup from "@cloudscape-design/components/radio-group";
import Select from "@cloudscape-design/components/select";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Tiles from "@cloudscape-design/components/tiles";
import type { Sku } from "../api/queries/skus";
import { money, perHour, times } from "../parts/money";
import { QuotaLeft } from "../parts/QuotaLeft";
import { inside } from "../parts/sizeWords";
import { COUNT, chosenSku, freeOf, regionsOf, sizesOf } from "./draft";
import { InitDifference } from "./InitDifference";
import type { StepProps } from "./step";

export function ComputeStep(props: StepProps & { skus: readonly Sku[] }) {
  return (
    <SpaceBetween size="l">
      <SkuCards {...props} />
      <Container header={<Header variant="h2">Size</Header>}>
        <SpaceBetween size="l">
          <GpuCount {...props} />
          <SizeChoice {...props} />
          <ColumnLayout columns={2}>
            <MachineCount {...props} />
            <RegionChoice {...props} />
          </ColumnLayout>
          <HourlyPrice {...props} />
          <QuotaLeft projectId={props.projectId} of={["allocations", "gpus", "vcpus", "memory_mib"]} />
        </SpaceBetween>
      </Container>
    </SpaceBetween>
  );
}

function SkuCards({ skus, choice, change, mistakes }: StepProps & { skus: readonly Sku[] }) {
  return (
    <div>
      {mistakes.sku && <Alert type="error">{mistakes.sku}</Alert>}
      <Box padding={{ bottom: "s" }}>
        <Header variant="h2" description="Availability is updated every few seconds.">
          GPU type
        </Header>
      </Box>
      <Cards<Sku>
        items={skus}
        trackBy="sku"
        selectionType="single"
        selectedItems={choice.live ? [choice.live] : []}
        entireCardClickable
        onSelectionChange={({ detail: { selectedItems } }) => {
          if (selectedItems[0]) change(chosenSku(selectedItems[0]));
        }}
        cardsPerRow={[{ cards: 1 }, { minWidth: 560, cards: 2 }, { minWidth: 1100, cards: 3 }]}
        ariaLabels={{ itemSelectionLabel: (_, sku) => sku.title, selectionGroupLabel: "GPU type" }}
        cardDefinition={{
          header: (sku) => (
            <Box variant="h3" tagOverride="span">
              {sku.title}
            </Box>
          ),
          sections: [
            { id: "price", content: (sku) => <Price sku={sku} /> },
            { id: "free", header: "Free now", content: (sku) => <Free sku={sku} /> },
          ],
        }}
      />
    </div>
  );
}

function Price({ sku }: { sku: Sku }) {
  return (
    <SpaceBetween size="xxs">
      <div>
        <Box fontSize="heading-m" fontWeight="bold" tagOverride="span" display="inline">
          {money(sku.price_per_gpu_hour)}
        </Box>{" "}
        <Box variant="small" color="text-body-secondary">
          per GPU and hour
        </Box>
      </div>
      <SpaceBetween direction="horizontal" size="xs" alignItems="center">
        {sku.simulated && <Badge>Simulated GPUs</Badge>}
        <Box variant="small" color="text-body-secondary">
          {sku.shape === "baremetal" ? "Whole node" : "Part of a node"} · <code>{sku.sku}</code>
        </Box>
      </SpaceBetween>
    </SpaceBetween>
  );
}

/** By region, and there by GPU count: how many machines could be had. */
function Free({ sku }: { sku: Sku }) {
  const regions = regionsOf(sku);
  if (regions.length === 0) return <Box color="text-status-inactive">No node offers this now.</Box>;
  return (
    <SpaceBetween size="xxs">
      {regions.map((region) => (
        <SpaceBetween key={region} direction="horizontal" size="xs" alignItems="center">
          {regions.length > 1 && <Box variant="small">{region}</Box>}
          {sku.allowed_counts.map((count) => (
            <FreeBadge key={count} count={count} free={freeOf(sku, count, region)} />
          ))}
        </SpaceBetween>
      ))}
    </SpaceBetween>
  );
}

function FreeBadge({ count, free }: { count: number; free: number }) {
  return (
    <Badge color={free > 0 ? "green" : "grey"}>
      {free} × {gpus(count)}
    </Badge>
  );
}

function GpuCount({ choice, change }: StepProps) {
  const { sku, gpuCount } = choice;
  return (
    <FormField label="GPUs in each machine" stretch>
      <Tiles
        value={String(gpuCount)}
        ariaLabel="GPUs in each machine"
        onChange={({ detail }) => change({ gpuCount: Number(detail.value), size: null })}
        columns={4}
        items={sku.allowed_counts.map((count) => ({
          value: String(count),
          label: gpus(count),
          description: `${perHour(times(sku.price_per_gpu_hour, count))} · ${freeOf(sku, count)} free`,
        }))}
      />
    </FormField>
  );
}

function SizeChoice({ choice, change }: StepProps) {
  const sizes = sizesOf(choice.sku, choice.gpuCount);
  if (sizes.length < 2) return null;
  return (
    <SpaceBetween size="s">
      <FormField label="Processors, memory, disk and init">
        <RadioGroup
          value={choice.size?.name ?? null}
          onChange={({ detail }) => change({ size: detail.value })}
          items={sizes.map((size) => ({
            value: size.name,
            label: `${size.name}, init ${size.init}`,
            description: size.not_placeable ? `Cannot be placed: ${size.not_placeable}.` : inside(size),
            disabled: Boolean(size.not_placeable),
          }))}
        />
      </FormField>
      {new Set(sizes.map(({ init }) => init)).size > 1 && <InitDifference sku={choice.sku} />}
    </SpaceBetween>
  );
}

function MachineCount({ draft, change, mistakes }: StepProps) {
  return (
    <FormField
      label="Machines"
      constraintText="All machines are created, or none. Each has its own address and bill."
      errorText={mistakes.count}
    >
      <Input
        type="number"
        inputMode="numeric"
        step={1}
        value={draft.count}
        onChange={({ detail }) => change({ count: detail.value })}
        nativeInputAttributes={{ min: COUNT.least, max: COUNT.most }}
      />
    </FormField>
  );
}

const ANYWHERE = "";

function RegionChoice({ choice, change }: StepProps) {
  const free = (region: string | null) =>
    `${freeOf(choice.sku, choice.gpuCount, region)} free with ${gpus(choice.gpuCount)}`;
  const options = [
    { value: ANYWHERE, label: "Any region", description: free(null) },
    ...[...new Set([...regionsOf(choice.sku), ...(choice.region ? [choice.region] : [])])].map((region) => ({
      value: region,
      label: region,
      description: free(region),
    })),
  ];
  return (
    <FormField label="Region" constraintText="Where the node is.">
      <Select
        selectedOption={options.find(({ value }) => value === (choice.region ?? ANYWHERE)) ?? null}
        options={options}
        onChange={({ detail }) => change({ region: detail.selectedOption.value || null })}
      />
    </FormField>
  );
}

function HourlyPrice({ choice }: Pick<StepProps, "choice">) {
  const { sku, gpuCount, count, size } = choice;
  const machines = count === 1 ? "one machine" : `${count} machines, each`;
  return (
    <Box>
      <Box fontSize="heading-l" fontWeight="bold" tagOverride="span">
        {perHour(times(sku.price_per_gpu_hour, gpuCount * count))}
      </Box>{" "}
      for {machines} with {gpus(gpuCount)}
      {size && `, ${inside(size)}`}
      {sku.simulated && (
        <Box variant="small" color="text-body-secondary">
          Its GPUs are simulated: you can try everything, but not compute.
        </Box>
      )}
    </Box>
  );
}

export function gpus(count: number): string {
  return count === 1 ? "1 GPU" : `${count} GPUs`;
}
