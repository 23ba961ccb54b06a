import Badge from "@cloudscape-design/components/badge";
import Box from "@cloudscape-design/components/box";
import SpaceBetween from "@cloudscape-design/components/space-between";
import type { ReactNode } from "react";
import type { components } from "../api/schema";
import { Link } from "./Link";
import { AllocationStatus } from "./StatusLabel";

type ReachedProject = components["schemas"]["ReachedProject"];
type ReachedMachine = ReachedProject["machines"][number];

const GRANTS: Record<NonNullable<ReachedMachine["grant"]>, string> = {
  asked: "asked for",
  awaiting_key: "shared, waits for a key",
  active: "shared",
  revoked: "no longer shared",
  ended: "no longer shared",
};

/** Machines of a project that somebody holds, or was given. */
export function ReachedMachines({ reach, empty }: { reach: ReachedProject; empty: ReactNode }) {
  if (reach.machines.length === 0) return <>{empty}</>;
  return (
    <SpaceBetween size="s">
      {reach.machines.map(({ allocation_id, name, status, is_holder, grant }) => (
        <Box key={allocation_id}>
          <SpaceBetween direction="horizontal" size="s" alignItems="center">
            <Link to={`/projects/${reach.project_id}/allocations/${allocation_id}`}>{name}</Link>
            <AllocationStatus status={status} />
            <Badge color={is_holder ? "green" : "blue"}>{is_holder ? "holder" : grant ? GRANTS[grant] : ""}</Badge>
          </SpaceBetween>
        </Box>
      ))}
    </SpaceBetween>
  );
}
