import { type Account, useSetSuspension } from "../../../api/queries/accounts";
import { notify } from "../../../frame/notices";
import { ActDialog } from "../ActDialog";
import { KINDS } from "./kinds";

const ENDS = "Open SSH connections, terminals and event streams, within seconds.";
const STAYS =
  "Allocations keep running and are still billed, until their time limits end them. Volumes, snapshots, keys, roles and grants are kept. You can resume it at any time.";

/** Suspends an account, or ends its suspension. */
export function SuspendDialog({ account, onClose }: { account: Account; onClose: () => void }) {
  const change = useSetSuspension(account);
  const isSuspended = account.suspended_at !== null;
  const { one, does } = KINDS[account.kind];
  const act = (reason: string) =>
    change.mutate(
      { verb: isSuspended ? "unsuspend" : "suspend", reason },
      {
        onSuccess: () => {
          notify("success", `${account.name} is ${isSuspended ? "resumed" : "suspended"}`);
          onClose();
        },
      },
    );
  if (isSuspended) {
    return (
      <ActDialog
        title={`Resume ${account.name}?`}
        verb="Resume"
        does={`Ends the suspension of this ${one}. Roles, keys and grants work as before.`}
        lost="Nothing. Terminals and connections that were closed stay closed; people open new ones."
        isReasonOptional
        isPending={change.isPending}
        error={change.error}
        onAct={act}
        onClose={onClose}
      />
    );
  }
  return (
    <ActDialog
      title={`Suspend ${account.name}?`}
      verb="Suspend"
      does={does}
      lost={ENDS}
      survives={STAYS}
      reasonHint="The suspended people see it. It is kept in the audit log, with your name."
      isPending={change.isPending}
      error={change.error}
      onAct={act}
      onClose={onClose}
    />
  );
}
