import { describe, expect, it } from "vitest";
import type { Overview } from "../../../api/queries/overview";
import { concerns } from "./attention";

const WELL: Overview = {
  at: "2026-01-01T12:00:00Z",
  queues: [
    { name: "node_tasks", waiting: 2, oldest_seconds: 0.4 },
    { name: "work_failing", waiting: 0, oldest_seconds: null },
  ],
  operations: { running: 1, oldest_running_seconds: 2, ended_last_hour: 9, failed_last_hour: 0 },
  nodes: { active: 3, offline: 0 },
  capacity: { approved: 8, claimed: 1, free: 7, blocked: 0 },
  allocations: { active: 4 },
  links: 3,
  replicas: 2,
  requests: {
    replica_started_at: "2026-01-01T11:00:00Z",
    total: 10,
    server_errors: 0,
    refused: 1,
    raced: 0,
    p50_seconds: 0.01,
    p95_seconds: 0.02,
    p99_seconds: 0.03,
  },
  workers: [
    {
      worker: "allocations",
      due: 0,
      leased: 0,
      failing: 0,
      oldest_due_seconds: null,
      last_error: null,
      disabled_at: null,
      disabled_by: null,
      disabled_reason: null,
    },
  ],
};
const texts = (changes: Partial<Overview>) => concerns({ ...WELL, ...changes }).map(({ text }) => text);

describe("what needs eyes", () => {
  it("is nothing when all is well", () => {
    expect(texts({})).toEqual([]);
  });

  it("names each trouble once, in the singular or the plural", () => {
    expect(texts({ nodes: { active: 1, offline: 1 } })).toEqual(["1 node does not answer"]);
    expect(texts({ allocations: { release_failed: 2 } })).toEqual(["2 machines could not be released"]);
  });

  it("counts violations of invariants and unknown environments, and leads to them", () => {
    const found = concerns({ ...WELL, invariant_violations: { claim_overlap: 2, operation_orphan: 1 } });
    expect(found).toEqual([
      { id: "invariants", text: "3 violations of invariants", to: "/platform/invariants", where: "Invariants" },
    ]);
    expect(texts({ unknown_environments: { "node-1": 1 } })).toEqual(["1 environment is unknown to the database"]);
  });

  it("counts work that waits a minute as stuck, and less not", () => {
    expect(texts({ queues: [{ name: "node_tasks", waiting: 1, oldest_seconds: 59 }] })).toEqual([]);
    expect(texts({ queues: [{ name: "node_tasks", waiting: 1, oldest_seconds: 61 }] })).toEqual([
      "Something waits in node tasks for 1 min 1 s",
    ]);
  });

  it("says that a worker is off or failing", () => {
    const [worker] = WELL.workers;
    if (worker === undefined) throw new Error("no worker");
    expect(texts({ workers: [{ ...worker, disabled_at: "2026-01-01T11:00:00Z" }] })).toEqual([
      "1 worker is switched off",
    ]);
    expect(texts({ workers: [{ ...worker, failing: 3 }] })).toEqual(["1 worker fails at something"]);
  });
});
