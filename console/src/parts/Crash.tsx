import Box from "@cloudscape-design/components/box";
import { useRouteError } from "react-router";
import { asProblem } from "../api/problem";
import { ProblemAlert } from "./ProblemAlert";

/** A mistake of ours is shown, not swallowed. */
export function Crash() {
  const error = useRouteError();
  return (
    <Box padding="xxl">
      <ProblemAlert problem={asProblem(error)} onRetry={() => window.location.reload()} />
    </Box>
  );
}
