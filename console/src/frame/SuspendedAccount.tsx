import Alert from "@cloudscape-design/components/alert";
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import Header from "@cloudscape-design/components/header";
import SpaceBetween from "@cloudscape-design/components/space-between";
import type { Problem } from "../api/problem";

/** Instead of every page, for a person whose account is suspended: the server refuses everything else. */
export function SuspendedAccount({ problem, onRetry }: { problem: Problem; onRetry: () => void }) {
  return (
    <main className="suspended-account">
      <title>Suspended · GPUaaS</title>
      <SpaceBetween size="l">
        <Header variant="h1">Your account is suspended</Header>
        <Alert type="warning">{problem.message}</Alert>
        <Box>
          Your allocations keep running and are still billed. Admins of your projects hold them meanwhile. Your volumes,
          SSH keys, tokens and roles are kept, and work again as soon as an operator resumes your account.
        </Box>
        <SpaceBetween direction="horizontal" size="xs">
          <Button onClick={onRetry}>Check again</Button>
          <Button variant="link" href="/login?left=1">
            Sign in as somebody else
          </Button>
        </SpaceBetween>
      </SpaceBetween>
    </main>
  );
}
