import Alert from "@cloudscape-design/components/alert";
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { type ReactNode, useState } from "react";
import { useNavigate } from "react-router";
import { newId } from "../../api/client";
import { asProblem } from "../../api/problem";
import type { Allocation } from "../../api/queries/allocations";
import { type LaunchRequest, useLaunch } from "../../api/queries/launch";
import { notify } from "../../frame/notices";
import { Ago } from "../../parts/Ago";
import { ProblemAlert } from "../../parts/ProblemAlert";
import { ActionButton } from "./Actions";

/** What went wrong, what is owed meanwhile, and the ways on. */
export function FailedAlert({ allocation }: { allocation: Allocation }) {
  const { status, status_reason, resize } = allocation;
  if (status === "restart_failed") {
    return (
      <Failure
        header={resize ? "The resize failed" : "The restart failed"}
        allocation={allocation}
        reason={status_reason}
        next={
          resize
            ? `Restart it to finish with ${resize.gpu_count} GPUs, resize it to go back to ${allocation.gpu_count}, or release it.`
            : "Restart it again, or release it. The disk, the address and the keys are untouched."
        }
        actions={
          <>
            <ActionButton verb="restart" allocation={allocation}>
              Restart again
            </ActionButton>
            {resize && (
              <ActionButton verb="resize" allocation={allocation}>
                Choose a size
              </ActionButton>
            )}
            <ActionButton verb="release" allocation={allocation} />
          </>
        }
      />
    );
  }
  if (status === "release_failed") {
    return (
      <Failure
        header="The release failed"
        allocation={allocation}
        reason={status_reason}
        next="Release it again. If it fails again, an operator has to look; you pay nothing meanwhile."
        actions={
          <ActionButton verb="release" allocation={allocation}>
            Release again
          </ActionButton>
        }
      />
    );
  }
  if (status === "failed") return <Failed allocation={allocation} />;
  return null;
}

/** `failed` is final: another try is a new machine from the same request. */
function Failed({ allocation }: { allocation: Allocation }) {
  const navigate = useNavigate();
  const launch = useLaunch(allocation.project_id);
  const [key] = useState(newId);
  const { retry, cleanup_proven } = allocation;
  const again = (request: LaunchRequest) =>
    launch.mutate(
      { key, request },
      {
        onSuccess: ({ allocations: [made] }) => {
          notify("success", "The same request was sent again");
          if (made) void navigate(`/projects/${made.project_id}/allocations/${made.id}`);
        },
      },
    );
  return (
    <Failure
      header="The machine failed"
      allocation={allocation}
      reason={allocation.status_reason}
      next={
        retry
          ? "This machine will not come back. Send the same request again for a new one, or change it first."
          : "This machine will not come back, and its keys were removed since. Launch a new one."
      }
      actions={
        <>
          {retry && (
            <Button loading={launch.isPending} onClick={() => again(retry)}>
              Try again
            </Button>
          )}
          <Button
            onClick={() =>
              void navigate(`/projects/${allocation.project_id}/launch${retry ? `?retry=${allocation.id}` : ""}`)
            }
          >
            {retry ? "Change and launch" : "Launch a machine"}
          </Button>
        </>
      }
    >
      {!cleanup_proven && <Box>What is left of it on its node is still being removed.</Box>}
      {launch.isError && <ProblemAlert problem={asProblem(launch.error)} />}
    </Failure>
  );
}

interface FailureProps {
  header: string;
  allocation: Allocation;
  reason: string;
  next: string;
  actions: ReactNode;
  children?: ReactNode;
}

function Failure({ header, allocation, reason, next, actions, children }: FailureProps) {
  return (
    <Box padding={{ bottom: "l" }}>
      <Alert type="error" header={header} action={<div className="inline-facts">{actions}</div>}>
        <SpaceBetween size="xxs">
          <Box>{reason || "The node gave no reason. The Activity tab shows what it said."}</Box>
          <BillingState allocation={allocation} />
          <Box>{next}</Box>
          {children}
        </SpaceBetween>
      </Alert>
    </Box>
  );
}

function BillingState({ allocation: { billing } }: { allocation: Allocation }) {
  if (billing.state === "running") return <Box>Billing is still running.</Box>;
  if (billing.state === "not_started") return <Box>Billing never began: nothing is owed.</Box>;
  return (
    <Box>
      Billing stopped
      {billing.stopped_at && (
        <>
          {" "}
          <Ago at={billing.stopped_at} />
        </>
      )}
      .
    </Box>
  );
}
