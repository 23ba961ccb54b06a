import Badge from "@cloudscape-design/components/badge";
import type { Allocation } from "../../api/queries/allocations";
import { Ago } from "../../parts/Ago";
import { AllocationStatus, HEALTH, Label } from "../../parts/StatusLabel";

/** Status, since when, and why; health beside it while there is a machine that could be ill. */
export function StatusLine({ allocation }: { allocation: Allocation }) {
  const { status, status_since, status_reason, health, simulated } = allocation;
  return (
    <span className="inline-facts">
      <AllocationStatus status={status} />
      <span>
        <Ago at={status_since} />
        {status_reason && `: ${status_reason}`}
      </span>
      {status === "active" && <Label look={HEALTH[health]} />}
      {simulated && <Badge color="grey">Simulated GPUs</Badge>}
    </span>
  );
}
