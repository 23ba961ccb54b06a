import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import Form from "@cloudscape-design/components/form";
import Modal from "@cloudscape-design/components/modal";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { type FormEvent, type ReactNode, useId } from "react";
import { asProblem, type Problem } from "../api/problem";
import { ProblemAlert } from "./ProblemAlert";

interface Props {
  title: string;
  /** What the button says. */
  verb: string;
  /** Why the button does not work yet; empty when it does. */
  notYet?: string;
  /** The request that was made of it. */
  asked?: { isPending: boolean; error: Error | null };
  onConfirm: () => void;
  onClose: () => void;
  /** Shown below a refusal: what could be done instead. */
  instead?: (problem: Problem) => ReactNode;
  children: ReactNode;
}

const UNASKED = { isPending: false, error: null };

/** A question before something is done: it says what will be, and nothing is done until it is answered. */
export function Ask({ title, verb, notYet = "", asked = UNASKED, onConfirm, onClose, instead, children }: Props) {
  const id = useId();
  const problem = asked.error ? asProblem(asked.error) : null;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    event.stopPropagation();
    if (!asked.isPending && notYet === "") onConfirm();
  };
  return (
    <Modal
      visible
      size="medium"
      position="top"
      header={title}
      closeAriaLabel="Close"
      onDismiss={onClose}
      footer={
        <Box float="right">
          <SpaceBetween direction="horizontal" size="xs">
            <Button variant="link" onClick={onClose}>
              Cancel
            </Button>
            <Button
              variant="primary"
              form={id}
              loading={asked.isPending}
              disabled={notYet !== ""}
              disabledReason={notYet}
            >
              {verb}
            </Button>
          </SpaceBetween>
        </Box>
      }
    >
      <form id={id} onSubmit={submit}>
        <Form>
          <SpaceBetween size="m">
            {children}
            {problem && <ProblemAlert problem={problem} />}
            {problem && instead?.(problem)}
          </SpaceBetween>
        </Form>
      </form>
    </Modal>
  );
}
