import type { Problem } from "../api/problem";
import type { Fit, Placement, Sku } from "../api/queries/skus";
import { type Choice, type Draft, freeOf } from "./draft";

/** Why nothing like this can be had now, from a submit or from asking before it. */
export type Refusal = Pick<Placement, "kind" | "detail" | "blocked" | "would_fit">;

export const KINDS: Record<NonNullable<Placement["kind"]>, string> = {
  no_capacity: "Nothing like this is free now",
  no_single_node_fits: "No single node has so many free",
  readiness_blocks: "Nothing like this is ready now",
  no_disk: "Nodes with free GPUs have too little disk left",
  size_not_offered: "No node offers this size",
};

const BLOCKED: Record<string, string> = {
  node_offline: "on a node that does not answer",
  node_not_active: "on a node that takes nothing new",
  missing_requirements: "on a node that lacks something that environments need",
  not_approved: "not approved for sale yet",
  disabled: "taken out of sale",
  unknown_environment: "in use by an environment that an operator must adopt or remove",
  cleanup_blocked: "waiting for proof that they were cleaned",
  no_fabric: "without a network function that is free",
  disk_low: "on a node whose disk is almost full",
};

/** "3 GPUs on a node that does not answer" for each reason. */
export function blockedWords(blocked: Record<string, number> | undefined): string[] {
  return Object.entries(blocked ?? {}).map(
    ([why, slots]) => `${slots} ${slots === 1 ? "GPU" : "GPUs"} ${BLOCKED[why] ?? why}`,
  );
}

export function refusalOf(problem: Problem): Refusal | null {
  if (problem.code !== "sku_unavailable") return null;
  const { kind, blocked, would_fit } = problem.facts as Partial<Placement>;
  return { detail: problem.message, kind: kind ?? null, blocked: blocked ?? {}, would_fit: would_fit ?? [] };
}

export interface Offer {
  id: string;
  label: string;
  patch: Partial<Draft>;
}

const MOST_FITS = 4;
const MOST_OTHERS = 3;

/** What would go instead, nearest to the wish first: as many GPUs elsewhere or in fewer machines, then other counts, then other kinds. */
export function offersFor(refusal: Refusal, choice: Choice, skus: readonly Sku[]): Offer[] {
  const far = ({ gpu_count }: Fit) => Math.abs(gpu_count - choice.gpuCount);
  const fits = [...(refusal.would_fit ?? [])].sort((a, b) => far(a) - far(b) || b.count - a.count);
  const others = skus.filter((sku) => sku.sku !== choice.sku.sku && freeOf(sku, choice.gpuCount) >= choice.count);
  return [
    ...fits.slice(0, MOST_FITS).map((fit) => offerOf(fit, choice)),
    ...others.slice(0, MOST_OTHERS).map((sku) => ({
      id: sku.sku,
      label: `${machines(choice.count, choice.gpuCount)} of ${sku.title}`,
      patch: { sku: sku.sku, offer: sku, gpuCount: choice.gpuCount, size: null, region: null },
    })),
  ];
}

function offerOf(fit: Fit, choice: Choice): Offer {
  const count = Math.min(choice.count, fit.count);
  return {
    id: `${fit.region}-${fit.gpu_count}`,
    label: `${machines(count, fit.gpu_count)} in ${fit.region}`,
    patch: { gpuCount: fit.gpu_count, count: String(count), region: fit.region, size: null },
  };
}

function machines(count: number, gpuCount: number): string {
  const gpus = gpuCount === 1 ? "1 GPU" : `${gpuCount} GPUs`;
  return count === 1 ? gpus : `${count} × ${gpus}`;
}
