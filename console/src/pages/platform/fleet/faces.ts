import type { Node, Slot, SlotMark } from "../../../api/queries/nodes";

/** What a slot is to who looks for capacity: a free one on a node that takes nothing new is not free. */
export type Face = "free" | "used" | "withheld" | "blocked" | "unknown" | "missing" | "disabled" | "candidate";

export const FACES: Record<Face, { words: string; means: string }> = {
  free: { words: "Free", means: "Can be had now" },
  used: { words: "Used", means: "A machine has it" },
  withheld: { words: "Held back", means: "Free, but its node is draining, quarantined or does not answer" },
  blocked: { words: "Cleanup blocked", means: "Whoever had it is not proven gone" },
  unknown: { words: "Unknown environment", means: "An environment that the database does not know uses it" },
  missing: { words: "Requirements missing", means: "Its node lacks something that environments need" },
  disabled: { words: "Disabled", means: "Taken off sale by an operator" },
  candidate: { words: "Candidate", means: "Found, but not approved for sale" },
};

export const FACE_ORDER = Object.keys(FACES) as Face[];

export type Tally = Record<Face, number>;
type Stand = Pick<Node, "intent" | "offline_since">;
type Marked = Pick<SlotMark, "status" | "cleanup_blocked">;

export function isSelling({ intent, offline_since }: Stand): boolean {
  return intent === "active" && !offline_since;
}

export function faceOf({ status, cleanup_blocked }: Marked, node: Stand): Face {
  if (cleanup_blocked || status === "cleanup_blocked") return "blocked";
  if (status === "claimed") return "used";
  if (status === "unknown_environment") return "unknown";
  if (status === "missing_requirements") return "missing";
  if (status === "candidate" || status === "disabled") return status;
  return isSelling(node) ? "free" : "withheld";
}

export function faceOfSlot(slot: Slot, node: Stand): Face {
  return faceOf({ status: slot.status, cleanup_blocked: slot.cleanup_blocked_at !== null }, node);
}

function noSlots(): Tally {
  return { free: 0, used: 0, withheld: 0, blocked: 0, unknown: 0, missing: 0, disabled: 0, candidate: 0 };
}

/** What takes part: a retired node is history. */
export function inFleet(nodes: readonly Node[]): Node[] {
  return nodes.filter(({ intent }) => intent !== "retired");
}

export function tally(nodes: readonly Node[]): Tally {
  const counts = noSlots();
  for (const node of nodes) for (const mark of node.slots ?? []) counts[faceOf(mark, node)] += 1;
  return counts;
}

export function total(counts: Tally): number {
  return FACE_ORDER.reduce((sum, face) => sum + counts[face], 0);
}

/** "5 free, 2 used, 1 cleanup blocked": what is not there is not said. */
export function inWords(counts: Tally): string {
  const said = FACE_ORDER.filter((face) => counts[face] > 0).map(
    (face) => `${counts[face]} ${FACES[face].words.toLowerCase()}`,
  );
  return said.join(", ") || "no slots";
}

export interface FamilyCapacity {
  family: string;
  counts: Tally;
  nodes: number;
}

/** Slots by GPU family, the largest first. */
export function byFamily(nodes: readonly Node[]): FamilyCapacity[] {
  const families = new Map<string, FamilyCapacity & { seen: Set<string> }>();
  for (const node of nodes) {
    for (const mark of node.slots ?? []) {
      const of = families.get(mark.gpu_family) ?? {
        family: mark.gpu_family,
        counts: noSlots(),
        nodes: 0,
        seen: new Set(),
      };
      of.counts[faceOf(mark, node)] += 1;
      of.nodes = of.seen.add(node.id).size;
      families.set(mark.gpu_family, of);
    }
  }
  return [...families.values()].sort((a, b) => total(b.counts) - total(a.counts));
}

/** Nodes by region, both by name. */
export function byRegion(nodes: readonly Node[]): [string, Node[]][] {
  const regions = new Map<string, Node[]>();
  for (const node of [...nodes].sort((a, b) => a.name.localeCompare(b.name, undefined, { numeric: true }))) {
    regions.set(node.region, [...(regions.get(node.region) ?? []), node]);
  }
  return [...regions].sort(([a], [b]) => a.localeCompare(b));
}
