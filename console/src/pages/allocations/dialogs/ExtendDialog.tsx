import Alert from "@cloudscape-design/components/alert";
import DateInput from "@cloudscape-design/components/date-input";
import FormField from "@cloudscape-design/components/form-field";
import Input from "@cloudscape-design/components/input";
import RadioGroup from "@cloudscape-design/components/radio-group";
import SpaceBetween from "@cloudscape-design/components/space-between";
import TimeInput from "@cloudscape-design/components/time-input";
import { useState } from "react";
import { newId } from "../../../api/client";
import { useExtend } from "../../../api/queries/allocations";
import { duration, useNow } from "../../../parts/Ago";
import { Ask } from "../../../parts/Ask";
import { money } from "../../../parts/money";
import type { DialogProps } from "./Dialog";
import { endThen, extension, mistakes, type Wanted } from "./extension";

/** Changes when a machine ends by itself; nothing is lost by it, so it asks only what is wanted. */
export function ExtendDialog({ allocation, onClose }: DialogProps) {
  const now = useNow();
  const extend = useExtend(allocation.id);
  const [key] = useState(newId);
  const limits = allocation.limits ?? {};
  const [wanted, setWanted] = useState<Wanted>({
    end: "hours",
    hours: "4",
    date: "",
    time: "",
    idle: "keep",
    minutes: String(limits.idle_minutes ?? 60),
  });
  const change = (part: Partial<Wanted>) => setWanted({ ...wanted, ...part });
  const wrong = mistakes(wanted, now);
  const isSame = wanted.end === "keep" && wanted.idle === "keep";
  const notYet = isSame ? "Nothing would change." : (wrong.end ?? wrong.idle ?? "");
  return (
    <Ask
      title={`When ${allocation.name} ends`}
      verb="Change"
      notYet={notYet}
      asked={extend}
      onConfirm={() => extend.mutate({ body: extension(wanted), key }, { onSuccess: onClose })}
      onClose={onClose}
    >
      <EndField wanted={wanted} mistake={wrong.end} present={limits.expires_at ?? null} onChange={change} />
      <IdleField wanted={wanted} mistake={wrong.idle} present={limits.idle_minutes ?? null} onChange={change} />
      {notYet === "" && <Then wanted={wanted} allocation={allocation} now={now} />}
    </Ask>
  );
}

interface FieldProps<Present> {
  wanted: Wanted;
  mistake: string | undefined;
  present: Present;
  onChange: (part: Partial<Wanted>) => void;
}

function EndField({ wanted, mistake, present, onChange }: FieldProps<string | null>) {
  const keep = present ? `Leave it at ${new Date(present).toLocaleString()}` : "Leave it without an end";
  return (
    <FormField label="End" errorText={wanted.end === "hours" || wanted.end === "at" ? mistake : ""}>
      <SpaceBetween size="s">
        <RadioGroup
          value={wanted.end}
          items={[
            { value: "hours", label: present ? "More hours from its present end" : "Some hours from now" },
            { value: "at", label: "At a time" },
            ...(present ? [{ value: "never", label: "No end: it runs until it is released" }] : []),
            { value: "keep", label: keep },
          ]}
          onChange={({ detail }) => onChange({ end: detail.value as Wanted["end"] })}
        />
        {wanted.end === "hours" && (
          <Amount label="Hours" unit="hours" step={1} value={wanted.hours} onChange={(hours) => onChange({ hours })} />
        )}
        {wanted.end === "at" && (
          <SpaceBetween direction="horizontal" size="xs">
            <DateInput
              ariaLabel="Day"
              placeholder="YYYY/MM/DD"
              value={wanted.date}
              onChange={({ detail }) => onChange({ date: detail.value })}
            />
            <TimeInput
              ariaLabel="Time"
              format="hh:mm"
              placeholder="hh:mm"
              value={wanted.time}
              onChange={({ detail }) => onChange({ time: detail.value })}
            />
          </SpaceBetween>
        )}
      </SpaceBetween>
    </FormField>
  );
}

function IdleField({ wanted, mistake, present, onChange }: FieldProps<number | null>) {
  return (
    <FormField
      label="When idle"
      description="Idle is when processor, GPU, SSH sessions and terminals were all watched and none showed work."
      errorText={wanted.idle === "minutes" ? mistake : ""}
    >
      <SpaceBetween size="s">
        <RadioGroup
          value={wanted.idle}
          items={[
            {
              value: "keep",
              label: present ? `Leave it: released after ${present} idle minutes` : "Leave it: stays when idle",
            },
            { value: "minutes", label: "Release it after some idle minutes" },
            ...(present ? [{ value: "never", label: "Do not release it when idle" }] : []),
          ]}
          onChange={({ detail }) => onChange({ idle: detail.value as Wanted["idle"] })}
        />
        {wanted.idle === "minutes" && (
          <Amount
            label="Idle minutes"
            unit="minutes"
            step={5}
            value={wanted.minutes}
            onChange={(minutes) => onChange({ minutes })}
          />
        )}
      </SpaceBetween>
    </FormField>
  );
}

interface AmountProps {
  label: string;
  unit: string;
  step: number;
  value: string;
  onChange: (value: string) => void;
}

function Amount({ label, unit, step, value, onChange }: AmountProps) {
  return (
    <SpaceBetween direction="horizontal" size="xs" alignItems="center">
      <Input
        type="number"
        inputMode="decimal"
        step={step}
        ariaLabel={label}
        value={value}
        onChange={({ detail }) => onChange(detail.value)}
      />
      {unit}
    </SpaceBetween>
  );
}

function Then({ wanted, allocation, now }: { wanted: Wanted; allocation: DialogProps["allocation"]; now: number }) {
  const end = endThen(extension(wanted), allocation.limits?.expires_at ?? null, now);
  if (end === null) return <Alert type="info">It then runs, and costs, until somebody releases it.</Alert>;
  const { amount_minor, currency } = allocation.price_per_hour;
  const seconds = (end - now) / 1_000;
  const cost = money({ amount_minor: Math.round((amount_minor * seconds) / 3_600), currency });
  return (
    <Alert type="info">
      It then ends on {new Date(end).toLocaleString()}, in {duration(seconds)}. Until then it costs about {cost}.
    </Alert>
  );
}
