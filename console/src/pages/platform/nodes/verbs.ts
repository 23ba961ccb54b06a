import type { Intent, Node, NodeVerb } from "../../../api/queries/nodes";
import type { Consequences } from "../ActDialog";

interface Verb {
  label: string;
  from: readonly Intent[];
  isReasonOptional?: boolean;
  /** What is told once it is done, after the node's name. */
  done: string;
  says: (node: Node) => Consequences;
}

const slots = (count: number) => (count === 1 ? "1 slot" : `${count} slots`);

export const VERBS: Record<NodeVerb, Verb> = {
  drain: {
    label: "Drain",
    done: "takes nothing new now",
    from: ["active", "quarantined"],
    says: ({ slots_free, slots_claimed }) => ({
      does: "Nothing new is placed here, until you undrain it.",
      lost: `${slots(slots_free)} that could be sold now.`,
      survives: `${slots(slots_claimed)} in use, and everything that runs there.`,
    }),
  },
  undrain: {
    label: "Undrain",
    done: "is back at work",
    from: ["draining"],
    isReasonOptional: true,
    says: ({ slots_free }) => ({ does: `Back to work: ${slots(slots_free)} can be sold again.` }),
  },
  quarantine: {
    label: "Quarantine",
    done: "is quarantined now",
    from: ["enrolling", "active", "draining"],
    says: ({ slots_free, slots_claimed }) => ({
      does: "Kept out of sale because something is wrong with it, until you find it well.",
      lost: `${slots(slots_free)} that could be sold now.`,
      survives: `${slots(slots_claimed)} in use, for as long as the node is able.`,
    }),
  },
  unquarantine: {
    label: "Found well",
    done: "is back at work",
    from: ["quarantined"],
    isReasonOptional: true,
    says: ({ slots_free }) => ({ does: `Ends the quarantine: ${slots(slots_free)} can be sold again.` }),
  },
  lost: {
    label: "Declare lost",
    done: "was declared lost",
    from: ["active", "draining", "quarantined"],
    says: ({ slots_claimed }) => ({
      does: "Says that this machine will never answer again. Bring it back instead, if you can.",
      lost: `What ran in ${slots(slots_claimed)}: those machines fail now, and their billing ends when the node was last seen.`,
      survives: "Their timelines and volumes. Their slots stay claimed until you verify each cleanup.",
    }),
  },
  retire: {
    label: "Retire",
    done: "is retired",
    from: ["enrolling", "draining", "quarantined"],
    says: () => ({
      does: "Takes the node out of the fleet for good. It is refused while anything is claimed on it, or a volume is on its disk.",
      lost: "The node and its slots; to come back, the machine enrols anew under another name.",
      survives: "Its history.",
    }),
  },
};

/** What can be done to it as it is now; a node that answers is not lost. */
export function possibleVerbs({ intent, offline_since }: Pick<Node, "intent" | "offline_since">): NodeVerb[] {
  const verbs = (Object.keys(VERBS) as NodeVerb[]).filter((verb) => VERBS[verb].from.includes(intent));
  return offline_since ? verbs : verbs.filter((verb) => verb !== "lost");
}

/** Why the server would refuse it now, as far as we can see. */
export function objection(verb: NodeVerb, { slots_claimed }: Node): string | undefined {
  if (verb !== "retire" || slots_claimed === 0) return undefined;
  return `${slots(slots_claimed)} still claimed: wait for the machines, or release them.`;
}
