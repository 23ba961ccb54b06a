import Box from "@cloudscape-design/components/box";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import type { ReactNode } from "react";
import "./consequences.css";

/** Before something is taken away: what goes with it, and what stays. */
export function Consequences({ lost, stays }: { lost: ReactNode; stays: ReactNode }) {
  return (
    <dl className="consequences">
      <div>
        <dt>
          <StatusIndicator type="warning">Lost</StatusIndicator>
        </dt>
        <dd>{lost}</dd>
      </div>
      <div>
        <dt>
          <StatusIndicator type="success">Stays</StatusIndicator>
        </dt>
        <dd>
          <Box>{stays}</Box>
        </dd>
      </div>
    </dl>
  );
}
