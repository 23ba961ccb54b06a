// @vitest-environment happy-dom
import { describe, expect, it } from "vitest";
import type { Allocation } from "../../api/queries/allocations";
import { machineRows } from "./machineRows";

function machine(id: string, status: Allocation["status"]): Allocation {
  return { id, status, health: "ok", holder: "user_1", node: { id: "node_1", region: "local" } } as Allocation;
}

const MEMBERS = [
  { project_id: "proj_1", user_id: "user_1", email: "ada@example.com", role: "owner" as const, can_be_granted: true },
];
const MACHINES = [
  machine("a", "active"),
  machine("b", "released"),
  machine("c", "failed"),
  machine("d", "release_failed"),
];

describe("rows of the list of machines", () => {
  it("leave out what has ended unless it is wanted, and count it", () => {
    const { rows, ended } = machineRows(MACHINES, MEMBERS, false);
    expect(rows.map(({ id }) => id)).toEqual(["a", "d"]);
    expect(ended).toBe(2);
    expect(machineRows(MACHINES, MEMBERS, true).rows).toHaveLength(4);
  });

  it("carry the words that the table shows", () => {
    expect(machineRows(MACHINES, MEMBERS, false).rows[0]).toMatchObject({
      statusWords: "Active",
      healthWords: "Healthy",
      region: "local",
      holderName: "ada@example.com",
    });
  });

  it("stay the same for a machine that did not change", () => {
    const [before] = machineRows(MACHINES, MEMBERS, false).rows;
    expect(machineRows([...MACHINES], MEMBERS, true).rows[0]).toBe(before);
    expect(machineRows(MACHINES, [], false).rows[0]?.holderName).toBe("user_1");
  });
});
