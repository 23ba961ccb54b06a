import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import FormField from "@cloudscape-design/components/form-field";
import RadioGroup from "@cloudscape-design/components/radio-group";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useState } from "react";
import { useNavigate } from "react-router";
import { newId } from "../../../api/client";
import type { Problem } from "../../../api/problem";
import { type Allocation, useConsequences, useResize } from "../../../api/queries/allocations";
import { type Sku, useSkus } from "../../../api/queries/skus";
import { Ask } from "../../../parts/Ask";
import { perHour } from "../../../parts/money";
import { inside } from "../../../parts/sizeWords";
import { View } from "../../../parts/View";
import type { DialogProps } from "./Dialog";
import { Reason } from "./Reason";
import { firstOfCount, gpus, notFor, refusal, type Size, sizeChoices } from "./sizes";
import { NOT_SEEN, WhatSurvives } from "./WhatSurvives";

export function ResizeDialog({ allocation, onClose }: DialogProps) {
  const skus = useSkus();
  const consequences = useConsequences(allocation.id, "resize");
  const resize = useResize(allocation.id);
  const [chosen, setChosen] = useState<Size | null>(null);
  const [reason, setReason] = useState("");
  const [key] = useState(newId);
  const sku = skus.data?.find((one) => one.sku === allocation.sku);
  const choose = (size: Size | null) => {
    resize.reset(); // a refusal was of the other size
    setChosen(size);
  };
  return (
    <Ask
      title={`Resize ${allocation.name}`}
      verb={chosen ? `Resize to ${gpus(chosen.gpu_count)}` : "Resize"}
      notYet={!chosen ? "Choose a size." : consequences.data ? "" : NOT_SEEN}
      asked={resize}
      onConfirm={() => {
        if (chosen === null) return;
        const body = { gpu_count: chosen.gpu_count, size: chosen.name, reason };
        resize.mutate({ body, key }, { onSuccess: onClose });
      }}
      onClose={onClose}
      instead={(problem) => (
        <Instead problem={problem} allocation={allocation} onCount={(count) => choose(firstOfCount(sku, count))} />
      )}
    >
      <View of={skus} what="sizes">
        {() => <Sizes sku={sku} allocation={allocation} chosen={chosen} onChoose={choose} />}
      </View>
      <WhatSurvives of={consequences} />
      <Reason value={reason} onChange={setReason} />
    </Ask>
  );
}

interface SizesProps {
  sku: Sku | undefined;
  allocation: Allocation;
  chosen: Size | null;
  onChoose: (size: Size) => void;
}

function Sizes({ sku, allocation, chosen, onChoose }: SizesProps) {
  if (sku === undefined) return <Box>{allocation.sku} is no longer sold, so it has no other sizes.</Box>;
  const choices = sizeChoices(sku, allocation);
  return (
    <FormField label="Size" description="Stays on the same node, by way of a restart.">
      <RadioGroup
        value={choices.find(({ size }) => size === chosen)?.value ?? null}
        items={choices.map(({ value, size, price, isNow }) => ({
          value,
          label: `${gpus(size.gpu_count)}, ${size.name}${isNow ? " (now)" : ""}`,
          description: notFor(size, allocation) || `${inside(size)}, init ${size.init}, ${perHour(price)}`,
          disabled: (isNow && !allocation.resize) || notFor(size, allocation) !== "",
        }))}
        onChange={({ detail }) => {
          const choice = choices.find(({ value }) => value === detail.value);
          if (choice) onChoose(choice.size);
        }}
      />
    </FormField>
  );
}

interface InsteadProps {
  problem: Problem;
  allocation: Allocation;
  onCount: (count: number) => void;
}

/** What the node could hold, and where a new machine of that size would find room. */
function Instead({ problem, allocation, onCount }: InsteadProps) {
  const navigate = useNavigate();
  const { fitsHere, fitsElsewhere } = refusal(problem);
  if (fitsHere.length === 0 && !fitsElsewhere) return null;
  return (
    <SpaceBetween direction="horizontal" size="xs">
      {fitsHere.map((count) => (
        <Button key={count} formAction="none" onClick={() => onCount(count)}>
          Take {gpus(count)}
        </Button>
      ))}
      {fitsElsewhere && (
        <Button formAction="none" onClick={() => void navigate(`/projects/${allocation.project_id}/launch`)}>
          Launch a new machine
        </Button>
      )}
    </SpaceBetween>
  );
}
