import type { Overview } from "../../../api/queries/overview";
import { duration } from "../../../parts/Ago";

export interface Concern {
  id: string;
  text: string;
  to: string;
  where: string;
}

/** Work that waits longer than this is not on its way, it is stuck. */
const LONG_SECONDS = 60;

const OPERATIONS = { to: "/platform/operations", where: "Operations" };
const HISTORY = { to: "/platform/history", where: "Operation history" };
const NODES = { to: "/platform/nodes", where: "Nodes" };
const INVARIANTS = { to: "/platform/invariants", where: "Invariants" };
const WORKERS = { to: "/platform/workers", where: "Workers and queues" };

/** What an operator should look at now, the worst first; nothing when all is well. */
export function concerns(overview: Overview): Concern[] {
  const { nodes, allocations, operations, queues, workers, replicas } = overview;
  const found: (Concern | false)[] = [
    replicas === 0 && { id: "replicas", text: "No replica was seen in the last ten seconds", ...WORKERS },
    many(
      total(overview.invariant_violations),
      "invariant is violated",
      "violations of invariants",
      "invariants",
      INVARIANTS,
    ),
    many(nodes.contested, "node key is used twice", "node keys are used twice", "contested", NODES),
    many(
      total(overview.unknown_environments),
      "environment is unknown to the database",
      "environments are unknown to the database",
      "unknown",
      NODES,
    ),
    many(
      nodes.missing_requirements,
      "node lacks something that environments need",
      "nodes lack something that environments need",
      "missing",
      NODES,
    ),
    many(nodes.offline, "node does not answer", "nodes do not answer", "offline", NODES),
    many(
      allocations.release_failed,
      "machine could not be released",
      "machines could not be released",
      "release_failed",
      OPERATIONS,
    ),
    many(
      allocations.restart_failed,
      "machine did not come back from its restart",
      "machines did not come back from their restart",
      "restart_failed",
      OPERATIONS,
    ),
    many(
      operations.failed_last_hour,
      "operation failed in the last hour",
      "operations failed in the last hour",
      "failed",
      HISTORY,
    ),
    many(workers.filter(isOff).length, "worker is switched off", "workers are switched off", "off", WORKERS),
    many(
      workers.filter(({ failing }) => failing > 0).length,
      "worker fails at something",
      "workers fail at something",
      "failing",
      WORKERS,
    ),
    ...queues.map(({ name, oldest_seconds }) => late(name, oldest_seconds)),
    many(nodes.quarantined, "node is quarantined", "nodes are quarantined", "quarantined", NODES),
  ];
  return found.filter((each) => each !== false);
}

function total(counts: Record<string, number> | undefined): number {
  return Object.values(counts ?? {}).reduce((sum, count) => sum + count, 0);
}

function isOff({ disabled_at }: Overview["workers"][number]): boolean {
  return disabled_at !== null;
}

function many(
  count: number | undefined,
  one: string,
  more: string,
  id: string,
  at: { to: string; where: string },
): Concern | false {
  if (!count) return false;
  return { id, text: `${count} ${count === 1 ? one : more}`, ...at };
}

function late(queue: string, oldest: number | null): Concern | false {
  if (oldest === null || oldest < LONG_SECONDS) return false;
  return {
    id: `queue-${queue}`,
    text: `Something waits in ${queue.replaceAll("_", " ")} for ${duration(oldest)}`,
    ...WORKERS,
  };
}
