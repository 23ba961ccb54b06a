import Button from "@cloudscape-design/components/button";
import ColumnLayout from "@cloudscape-design/components/column-layout";
import FormField from "@cloudscape-design/components/form-field";
import Input from "@cloudscape-design/components/input";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useState } from "react";
import {
  type Dimension,
  type Limits as LimitSet,
  type QuotaLine,
  type QuotaOf,
  useClearLimits,
  useQuotaLines,
  useSetLimits,
} from "../../../api/queries/quotas";
import { notify } from "../../../frame/notices";
import { QuotaTable } from "../../../parts/QuotaTable";
import { labelOf, readLimit, typedLimit, unitOf } from "../../../parts/quotaWords";
import { View } from "../../../parts/View";
import { ActDialog } from "../ActDialog";

const DEFAULT_HINT = "These limits hold for every tenant and person without limits of their own.";

/** The limits of an account, or the defaults of the platform; operators change them. */
export function Limits({ of, name }: { of: QuotaOf; name: string }) {
  const quota = useQuotaLines(of);
  const [dialog, setDialog] = useState<"change" | "clear" | null>(null);
  const close = () => setDialog(null);
  const actions = (
    <SpaceBetween direction="horizontal" size="xs">
      {of.kind !== "platform" && <Button onClick={() => setDialog("clear")}>Use the defaults</Button>}
      <Button onClick={() => setDialog("change")}>Change limits</Button>
    </SpaceBetween>
  );
  return (
    <View of={quota} what="limits">
      {(lines) => (
        <>
          <QuotaTable
            lines={lines}
            isDefault={of.kind === "platform"}
            actions={actions}
            description={of.kind === "platform" && DEFAULT_HINT}
          />
          {dialog === "change" && <ChangeDialog of={of} name={name} lines={lines} onClose={close} />}
          {dialog === "clear" && of.kind !== "platform" && <ClearDialog of={of} name={name} onClose={close} />}
        </>
      )}
    </View>
  );
}

interface ChangeProps {
  of: QuotaOf;
  name: string;
  lines: readonly QuotaLine[];
  onClose: () => void;
}

function ChangeDialog({ of, name, lines, onClose }: ChangeProps) {
  const change = useSetLimits(of);
  const [typed, setTyped] = useState<Partial<Record<Dimension, string>>>({});
  const changed = lines.filter((line) => (typed[line.dimension] ?? typedLimit(line)) !== typedLimit(line));
  const isWrong = changed.some(({ dimension }) => readLimit(dimension, typed[dimension] ?? "") === undefined);
  const act = (reason: string) => {
    const limits: LimitSet = Object.fromEntries(
      changed.map(({ dimension }) => [dimension, readLimit(dimension, typed[dimension] ?? "") ?? null]),
    );
    change.mutate(
      { limits, reason },
      {
        onSuccess: () => {
          notify("success", `The limits of ${name} are changed`);
          onClose();
        },
      },
    );
  };
  return (
    <ActDialog
      title={`Change limits of ${name}`}
      verb="Change"
      does="Only the fields you change are set. An empty field means no limit."
      survives="What exceeds a new limit. Nothing can be added until it is below the limit again."
      isReasonOptional
      isReady={changed.length > 0 && !isWrong}
      isPending={change.isPending}
      error={change.error}
      onAct={act}
      onClose={onClose}
    >
      <ColumnLayout columns={2}>
        {lines.map((line) => (
          <LimitField
            key={line.dimension}
            line={line}
            text={typed[line.dimension] ?? typedLimit(line)}
            onChange={(text) => setTyped({ ...typed, [line.dimension]: text })}
          />
        ))}
      </ColumnLayout>
    </ActDialog>
  );
}

interface FieldProps {
  line: QuotaLine;
  text: string;
  onChange: (text: string) => void;
}

function LimitField({ line, text, onChange }: FieldProps) {
  const unit = unitOf(line.dimension);
  return (
    <FormField
      label={`${labelOf(line)}${unit && ` (${unit})`}`}
      errorText={readLimit(line.dimension, text) === undefined && "A whole number, or nothing for no limit."}
    >
      <Input
        value={text}
        inputMode="numeric"
        placeholder="No limit"
        autoComplete={false}
        onChange={({ detail }) => onChange(detail.value)}
      />
    </FormField>
  );
}

function ClearDialog({
  of,
  name,
  onClose,
}: {
  of: Exclude<QuotaOf, { kind: "platform" }>;
  name: string;
  onClose: () => void;
}) {
  const clear = useClearLimits(of);
  return (
    <ActDialog
      title={`Remove the limits of ${name}?`}
      verb="Use the defaults"
      does="Removes every limit that was set for this account. Then the defaults of the platform hold, and for a project the limits of its tenant."
      survives="Everything that exists."
      isWithoutReason
      isPending={clear.isPending}
      error={clear.error}
      onAct={() =>
        clear.mutate(undefined, {
          onSuccess: () => {
            notify("success", `${name} has the default limits`);
            onClose();
          },
        })
      }
      onClose={onClose}
    />
  );
}
