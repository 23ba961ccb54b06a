import Alert from "@cloudscape-design/components/alert";
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import CopyToClipboard from "@cloudscape-design/components/copy-to-clipboard";
import type { Problem } from "../api/problem";
import { nextStep } from "./problems";

interface Props {
  problem: Problem;
  onRetry?: () => void;
}

/** A refusal: what, why, what to do now, and the id that finds it in the server's log. */
export function ProblemAlert({ problem, onRetry }: Props) {
  const step = nextStep(problem.code);
  return (
    <Alert
      type={problem.status === 404 ? "info" : "error"}
      header={step.title}
      action={onRetry && <Button onClick={onRetry}>Try again</Button>}
    >
      <div>{problem.message}</div>
      {step.next && <div>{step.next}</div>}
      <Box variant="small" color="text-body-secondary">
        <code>{problem.code}</code>
        {problem.correlationId && (
          <>
            {" · "}
            <CopyToClipboard
              variant="inline"
              textToCopy={problem.correlationId}
              copyButtonAriaLabel="Copy correlation id"
              copySuccessText="Copied"
              copyErrorText="Could not copy"
            />
          </>
        )}
      </Box>
    </Alert>
  );
}
