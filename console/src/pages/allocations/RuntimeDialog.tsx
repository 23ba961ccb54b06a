import type { Allocation } from "../../api/queries/allocations";
import { type AllocationRuntime, useChangeRuntime, useClearRuntime } from "../../api/queries/runtimes";
import { Consequences } from "../../parts/Consequences";
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
      <Consequences
        lost={
          runtime.observed_bundle
            ? `Nothing. Programs that start from then on find ${verb === "clear" ? "no bundle" : name}; you can go back.`
            : "Nothing."
        }
        stays="The machine runs on without a restart, with all your files; programs that run keep the version they began with."
      />
    </Dialog>
  );
}
