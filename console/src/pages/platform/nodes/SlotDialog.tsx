import { type Node, type Slot, type SlotVerb, useChangeSlots } from "../../../api/queries/nodes";
import { notify } from "../../../frame/notices";
import { ActDialog, type Consequences } from "../ActDialog";

interface Props {
  node: Node;
  verb: SlotVerb;
  slots: readonly Slot[];
  onClose: () => void;
}

const WORDS: Record<SlotVerb, { label: string; done: string } & Consequences> = {
  approve: {
    label: "Approve",
    done: "for sale now",
    does: "From now on it may be sold. You say that its parts are as listed, and work.",
  },
  disable: {
    label: "Disable",
    done: "off sale now",
    does: "It is not sold again, until you enable it.",
    survives: "A machine that has it now keeps it.",
  },
  enable: { label: "Enable", done: "for sale again", does: "It may be sold again." },
};

export function SlotDialog({ node, verb, slots, onClose }: Props) {
  const change = useChangeSlots(node.id);
  const { label, done, ...says } = WORDS[verb];
  const what = slots.length === 1 ? `slot ${slots[0]?.index}` : `${slots.length} slots`;
  const onSuccess = () => {
    notify("success", `${node.name}: ${what} ${slots.length === 1 ? "is" : "are"} ${done}`);
    onClose();
  };
  return (
    <ActDialog
      title={`${label} ${what} of ${node.name}`}
      verb={label}
      {...says}
      isReasonOptional={verb !== "disable"}
      isPending={change.isPending}
      error={change.error}
      onAct={(reason) => change.mutate({ verb, indexes: slots.map(({ index }) => index), reason }, { onSuccess })}
      onClose={onClose}
    />
  );
}
