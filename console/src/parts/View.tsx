import Alert from "@cloudscape-design/components/alert";
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import Spinner from "@cloudscape-design/components/spinner";
import type { ReactNode } from "react";
import { asProblem } from "../api/problem";
import { Ago } from "./Ago";
import { ProblemAlert } from "./ProblemAlert";

/** What was asked for: of one answer, or of pages of them. */
interface Asked<T> {
  data: T | undefined;
  isError: boolean;
  error: Error | null;
  dataUpdatedAt: number;
  refetch: () => Promise<unknown>;
}

interface Props<T> {
  of: Asked<T>;
  /** What is being loaded, as in "Loading volumes". */
  what: string;
  isEmpty?: (data: T) => boolean;
  empty?: ReactNode;
  children: (data: T) => ReactNode;
}

/** The four faces of everything that is shown: loading, empty, failed, and seen a while ago. */
export function View<T>({ of, what, isEmpty, empty, children }: Props<T>) {
  if (of.data === undefined) {
    if (of.isError) return <ProblemAlert problem={asProblem(of.error)} onRetry={() => void of.refetch()} />;
    return (
      <Box textAlign="center" padding="l" color="text-status-inactive">
        <Spinner /> Loading {what}
      </Box>
    );
  }
  const shown = isEmpty?.(of.data) ? empty : children(of.data);
  // What is shown keeps its place among the children: it is not made anew, with what was typed lost, when asking fails.
  return (
    <>
      {of.isError && <Stale what={what} since={of.dataUpdatedAt} onRetry={() => void of.refetch()} />}
      {shown}
    </>
  );
}

/** What is below was true once; nobody could be asked since. */
function Stale({ what, since, onRetry }: { what: string; since: number; onRetry: () => void }) {
  return (
    <Box padding={{ bottom: "s" }}>
      <Alert type="warning" action={<Button onClick={onRetry}>Look again</Button>}>
        The {what} below were seen <Ago at={new Date(since).toISOString()} />. Asking again did not work yet.
      </Alert>
    </Box>
  );
}
