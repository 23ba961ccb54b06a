import Box from "@cloudscape-design/components/box";
import type { Allocation } from "../../api/queries/allocations";
import { type AllocationRuntime, useChangeRuntime, useClearRuntime } from "../../api/queries/runtimes";
import { Dialog } from "../../parts/Dialog";

export interface Choice {
  verb: "apply" | "switch" | "upgrade" | "roll_back" | "clear";
  bundle: NonNullable<AllocationRuntime["bundle"]>;
}

interface Props {
  allocation: Allocation;
  runtime: AllocationRuntime;
  choice: Choice;
  onClose: () => void;
}

/** Before what is in force changes: what that means for what runs and for what is typed next. */
export function RuntimeDialog({ allocation, runtime, choice: { verb, bundle }, onClose }: Props) {
  const change = useChangeRuntime(allocation.id);
  const clear = useClearRuntime(allocation.id);
  const name = `${bundle.product_name} ${bundle.version}`;
  const words = {
    apply: { title: `Apply ${name} to ${allocation.name}?`, confirm: "Apply" },
    switch: { title: `Switch ${allocation.name} to ${name}?`, confirm: "Switch" },
    upgrade: { title: `Upgrade ${allocation.name} to ${name}?`, confirm: "Upgrade" },
    roll_back: { title: `Roll ${allocation.name} back to ${name}?`, confirm: "Roll back" },
    clear: { title: `Remove ${name} from ${allocation.name}?`, confirm: "Remove" },
  }[verb];
  const confirm = () => {
    if (verb === "clear") return clear.mutate(undefined, { onSuccess: onClose });
    const named = verb === "apply" || verb === "switch";
    return change.mutate(
      named ? { action: "apply", runtime_bundle_id: bundle.id, reason: "" } : { action: verb, reason: "" },
      { onSuccess: onClose },
    );
  };
  return (
    <Dialog
      title={words.title}
      confirm={words.confirm}
      isPending={change.isPending || clear.isPending}
      error={change.error ?? clear.error}
      onConfirm={confirm}
      onCancel={onClose}
    >
      <Box>
        What stays: the machine runs on without a restart, all your files, and every program that runs, with the version
        it began with.
      </Box>
      {runtime.observed_bundle && (
        <Box>
          What changes: <code>current</code> leads to {verb === "clear" ? "no bundle any more" : name}, for programs
          that start from then on. You can roll back.
        </Box>
      )}
    </Dialog>
  );
}
