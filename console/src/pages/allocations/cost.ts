import type { Allocation } from "../../api/queries/allocations";

const HOUR_MS = 3_600_000;

export interface Cost {
  /** Hundredths, with a fraction: an estimate to be shown, never one to compute with. */
  amountMinor: number;
  seconds: number;
}

/** Price × time since billing began; it stands still once billing has stopped. */
export function costSoFar(
  { billing, price_per_hour }: Pick<Allocation, "billing" | "price_per_hour">,
  now: number,
): Cost {
  if (!billing.started_at) return { amountMinor: 0, seconds: 0 };
  const end = billing.stopped_at ? Date.parse(billing.stopped_at) : now;
  const elapsed = Math.max(0, end - Date.parse(billing.started_at));
  return { amountMinor: (price_per_hour.amount_minor * elapsed) / HOUR_MS, seconds: elapsed / 1_000 };
}
