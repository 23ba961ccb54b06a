import Box from "@cloudscape-design/components/box";
import FormField from "@cloudscape-design/components/form-field";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Textarea from "@cloudscape-design/components/textarea";
import { type ReactNode, useState } from "react";
import { Dialog } from "../../parts/Dialog";

const MOST = 500;

export interface Consequences {
  /** What it does, in a sentence. */
  does: string;
  lost?: string;
  survives?: string;
}

interface Props extends Consequences {
  title: string;
  /** The word on the button. */
  verb: string;
  isReasonOptional?: boolean;
  /** Nothing is asked for where the server keeps no reason. */
  isWithoutReason?: boolean;
  reasonHint?: string;
  isReady?: boolean;
  isPending: boolean;
  error: Error | null;
  onAct: (reason: string) => void;
  onClose: () => void;
  /** What else has to be said before it can be done. */
  children?: ReactNode;
}

/** An operator's act: what it does, what ends, what stays, and the reason that goes into the audit log. */
export function ActDialog({
  title,
  verb,
  isReasonOptional = false,
  isWithoutReason = false,
  reasonHint = "Kept in the audit log, with your name.",
  isReady = true,
  isPending,
  error,
  ...props
}: Props) {
  const [reason, setReason] = useState("");
  const [isTried, setTried] = useState(false);
  const isMissing = !isReasonOptional && !isWithoutReason && reason.trim() === "";
  const act = () => {
    setTried(true);
    if (!isMissing) props.onAct(reason.trim());
  };
  return (
    <Dialog
      title={title}
      confirm={verb}
      onConfirm={act}
      onCancel={props.onClose}
      isPending={isPending}
      isReady={isReady}
      error={error}
    >
      <Said {...props} />
      {props.children}
      {!isWithoutReason && (
        <FormField
          label={isReasonOptional ? "Reason (optional)" : "Reason"}
          description={reasonHint}
          errorText={isTried && isMissing && "Say why, so that whoever comes after you knows."}
        >
          <Textarea
            value={reason}
            rows={2}
            autoFocus
            onChange={({ detail }) => setReason(detail.value.slice(0, MOST))}
          />
        </FormField>
      )}
    </Dialog>
  );
}

function Said({ does, lost, survives }: Consequences) {
  return (
    <SpaceBetween size="xs">
      <div>{does}</div>
      {lost && <Consequence name="Ends" words={lost} />}
      {survives && <Consequence name="Stays" words={survives} />}
    </SpaceBetween>
  );
}

function Consequence({ name, words }: { name: string; words: string }) {
  return (
    <div>
      <Box variant="awsui-key-label">{name}</Box>
      {words}
    </div>
  );
}
