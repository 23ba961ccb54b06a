import type { Allocation } from "../../../api/queries/allocations";

export type Care = "person" | "late" | "on its way";

/** No step of a machine's life takes longer without progress; see how long each phase is waited for. */
const LATE_MS = 2 * 60_000;

/** Who has to do something about it: a person, perhaps a person, or nobody yet. */
export function careFor(
  { status, last_progress_at }: Pick<Allocation, "status" | "last_progress_at">,
  now: number,
): Care {
  if (status === "release_failed" || status === "restart_failed" || status === "failed") return "person";
  return now - Date.parse(last_progress_at) > LATE_MS ? "late" : "on its way";
}

export const CARES: Record<Care, { words: string; look: "error" | "warning" | "in-progress" }> = {
  person: { words: "Needs a person", look: "error" },
  late: { words: "Slow", look: "warning" },
  "on its way": { words: "On its way", look: "in-progress" },
};

const RANK: Record<Care, number> = { person: 0, late: 1, "on its way": 2 };

/** The most pressing first, and of those the oldest. */
export function pressing<T extends { care: Care; status_since: string }>(rows: readonly T[]): T[] {
  return [...rows].sort((a, b) => RANK[a.care] - RANK[b.care] || a.status_since.localeCompare(b.status_since));
}

/** Cleanup is a person's to settle only where a release or a failure was not followed by its proof. */
export function canForceCleanup({ status, cleanup_proven }: Pick<Allocation, "status" | "cleanup_proven">): boolean {
  return !cleanup_proven && (status === "failed" || status === "release_failed" || status === "releasing");
}

export function canForceRelease({ status }: Pick<Allocation, "status">): boolean {
  return status !== "releasing" && status !== "released" && status !== "failed";
}
