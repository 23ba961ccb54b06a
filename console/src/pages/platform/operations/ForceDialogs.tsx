import FormField from "@cloudscape-design/components/form-field";
import RadioGroup from "@cloudscape-design/components/radio-group";
import { useState } from "react";
import { useForceCleanup, useForceRelease } from "../../../api/queries/adminAllocations";
import { notify } from "../../../frame/notices";
import { ActDialog } from "../ActDialog";

interface Props {
  id: string;
  name: string;
  onClose: () => void;
}

export function ForceRelease({ id, name, onClose }: Props) {
  const release = useForceRelease(id);
  const onSuccess = () => {
    notify("success", `${name} is being released`, "Its timeline says that an operator did.");
    onClose();
  };
  return (
    <ActDialog
      title={`Force-release ${name}`}
      verb="Force-release"
      does="Releases somebody's machine for them. They see that an operator did it, and the reason you give."
      lost="Every process and file inside it, and its billing, now."
      survives="Its timeline, and attached volumes. Its slots are not sold again until its cleanup is proven."
      isPending={release.isPending}
      error={release.error}
      onAct={(reason) => release.mutate(reason, { onSuccess })}
      onClose={onClose}
    />
  );
}

/** Without a look at the node, an operator's word must not put a slot back on sale. */
export function ForceCleanup({ id, name, onClose }: Props) {
  const cleanup = useForceCleanup(id);
  const [seen, setSeen] = useState<"" | "absent" | "unsure">("");
  const isAbsent = seen === "absent";
  const onSuccess = () => {
    notify(
      isAbsent ? "success" : "warning",
      isAbsent ? `${name} is settled; its slots are free` : `${name} is not settled; its slots stay blocked`,
    );
    onClose();
  };
  return (
    <ActDialog
      title={`Settle the cleanup of ${name}`}
      verb={isAbsent ? "Free the slots" : "Keep them blocked"}
      does="Puts your word in place of the proof that its node will not give."
      isReady={seen !== ""}
      isPending={cleanup.isPending}
      error={cleanup.error}
      onAct={(reason) => cleanup.mutate({ runtime_verified_absent: isAbsent, reason }, { onSuccess })}
      onClose={onClose}
    >
      <FormField label="What did you see on the node?">
        <RadioGroup
          value={seen}
          onChange={({ detail }) => setSeen(detail.value === "absent" ? "absent" : "unsure")}
          items={[
            {
              value: "absent",
              label: "Nothing of it is left: I looked",
              description:
                "Its slots are sold again at once. If you are wrong, the next person shares them with what is left.",
            },
            {
              value: "unsure",
              label: "Something is left, or I could not look",
              description: "Its slots stay out of sale, until somebody settles it.",
            },
          ]}
        />
      </FormField>
    </ActDialog>
  );
}
