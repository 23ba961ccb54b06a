import type { Allocation } from "../../api/queries/allocations";

const HOUR_MS = 3_600_000;

export interface Cost {
  /** Hundredths, with a fraction: an estimate to be shown, never one to compute with. */
  amountMinor: number;
  seconds: number;
}

/** The sum of the usage intervals when the allocation was read, and what has run since at the present price. */
export function costSoFar(
  { cost_so_far, price_per_hour }: Pick<Allocation, "cost_so_far" | "price_per_hour">,
  now: number,
): Cost {
  if (!cost_so_far) return { amountMinor: 0, seconds: 0 };
  const { amount, at, runs, seconds } = cost_so_far;
  const since = runs ? Math.max(0, now - Date.parse(at)) : 0;
  return {
    amountMinor: amount.amount_minor + (price_per_hour.amount_minor * since) / HOUR_MS,
    seconds: seconds + since / 1_000,
  };
}
