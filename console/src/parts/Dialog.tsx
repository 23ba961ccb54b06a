import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import Modal from "@cloudscape-design/components/modal";
import SpaceBetween from "@cloudscape-design/components/space-between";
import type { ReactNode } from "react";
import { asProblem } from "../api/problem";
import { ProblemAlert } from "./ProblemAlert";

interface Props {
  title: string;
  /** What the button says that does it. */
  confirm: string;
  /** What the other one says. */
  cancel?: string;
  onConfirm: () => void;
  onCancel: () => void;
  isPending?: boolean;
  isReady?: boolean;
  error?: Error | null;
  children: ReactNode;
}

/** A question with one answer that does something; a refusal is shown where it was asked. */
export function Dialog({
  title,
  confirm,
  cancel = "Cancel",
  isReady = true,
  isPending = false,
  error,
  ...props
}: Props) {
  return (
    <Modal
      visible
      onDismiss={props.onCancel}
      closeAriaLabel={cancel}
      header={title}
      footer={
        <Box float="right">
          <SpaceBetween direction="horizontal" size="xs">
            <Button variant="link" onClick={props.onCancel}>
              {cancel}
            </Button>
            <Button variant="primary" loading={isPending} disabled={!isReady} onClick={props.onConfirm}>
              {confirm}
            </Button>
          </SpaceBetween>
        </Box>
      }
    >
      <SpaceBetween size="m">
        {error && <ProblemAlert problem={asProblem(error)} />}
        {props.children}
      </SpaceBetween>
    </Modal>
  );
}
