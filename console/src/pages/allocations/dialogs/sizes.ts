import type { Problem } from "../../../api/problem";
import type { Allocation } from "../../../api/queries/allocations";
import type { Sku } from "../../../api/queries/skus";

export type Size = Sku["sizes"][number];

export interface SizeChoice {
  value: string;
  size: Size;
  price: Allocation["price_per_hour"];
  /** The size that the allocation has now. */
  isNow: boolean;
}

export function gpus(count: number): string {
  return count === 1 ? "1 GPU" : `${count} GPUs`;
}

/** Every size of the allocation's SKU, smallest first, with its price. */
export function sizeChoices(sku: Sku, { gpu_count, size: name }: Allocation): SizeChoice[] {
  const { amount_minor, currency } = sku.price_per_gpu_hour;
  return sku.sizes
    .filter((size) => sku.allowed_counts.includes(size.gpu_count))
    .sort((a, b) => a.gpu_count - b.gpu_count || a.vcpus - b.vcpus)
    .map((size) => ({
      value: `${size.gpu_count} ${size.name}`,
      size,
      price: { amount_minor: amount_minor * size.gpu_count, currency },
      isNow: size.gpu_count === gpu_count && size.name === name,
    }));
}

/** Why an allocation cannot have this size; empty if it can. */
export function notFor(size: Size, { disk_gib }: Pick<Allocation, "disk_gib">): string {
  const wanted = size.disk_gib ?? disk_gib;
  if (wanted < disk_gib) return `Its root disk of ${wanted} GiB is smaller, and a root disk cannot shrink.`;
  return size.not_placeable ? `Cannot be placed: ${size.not_placeable}.` : "";
}

/** The default size of a count is the first that is listed for it. */
export function firstOfCount(sku: Sku | undefined, count: number): Size | null {
  return sku?.sizes.find((size) => size.gpu_count === count) ?? null;
}

export interface Refusal {
  fitsHere: readonly number[];
  fitsElsewhere: boolean;
}

/** What a refused resize says would fit; nothing, if it was refused for another reason. */
export function refusal({ code, facts }: Problem): Refusal {
  if (code !== "resize_unavailable") return { fitsHere: [], fitsElsewhere: false };
  const here = facts.fits_here;
  const elsewhere = facts.elsewhere;
  return {
    fitsHere: Array.isArray(here) ? here.filter((count) => typeof count === "number") : [],
    fitsElsewhere: Array.isArray(elsewhere) && elsewhere.length > 0,
  };
}
