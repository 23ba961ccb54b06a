import type { WorkerStatus } from "../../../api/queries/workers";

/** A worker is woken when something is due; what waits this long was not picked up. */
const BEHIND_SECONDS = 30;

type Seen = Pick<WorkerStatus, "disabled_at" | "failing" | "oldest_due_seconds">;

/** One word for how a worker is, the worst that is true. */
export function healthOf({
  disabled_at,
  failing,
  oldest_due_seconds,
}: Seen): "Switched off" | "Failing" | "Behind" | "Well" {
  if (disabled_at !== null) return "Switched off";
  if (failing > 0) return "Failing";
  return (oldest_due_seconds ?? 0) > BEHIND_SECONDS ? "Behind" : "Well";
}
