import { describe, expect, it } from "vitest";
import type { Operation, Phase } from "../api/queries/operations";
import { bars, phaseWords } from "./bars";

const START = Date.parse("2026-03-01T12:00:00Z");
const at = (seconds: number) => new Date(START + seconds * 1_000).toISOString();

function phase(name: string, from: number, to: number | null): Phase {
  return {
    phase: name,
    outcome: to === null ? "began" : "done",
    started_at: at(from),
    ended_at: to === null ? null : at(to),
    seconds: to === null ? null : to - from,
    actor: "system",
    actor_name: "system",
    note: "",
    evidence: {},
    attempt: 1,
    logs: [],
  };
}

function operation(phases: Phase[], ended: number | null, status: Operation["status"]): Operation {
  const ended_at = ended === null ? null : at(ended);
  return { started_at: at(0), ended_at, status, phases } as Operation;
}

describe("phases as bars", () => {
  it("lie one after the other and fill the whole", () => {
    const drawn = bars(operation([phase("requested", 0, 1), phase("provisioning", 1, 4)], 4, "succeeded"), START);
    expect(drawn.map(({ left, width }) => [left, width])).toEqual([
      [0, 25],
      [25, 75],
    ]);
  });

  it("grow to now while they run", () => {
    const [, running] = bars(
      operation([phase("requested", 0, 1), phase("booting", 1, null)], null, "running"),
      START + 5_000,
    );
    expect(running).toMatchObject({ isRunning: true, seconds: 4, left: 20, width: 80 });
  });

  it("end with an operation that was ended by something else", () => {
    const [cut] = bars(operation([phase("booting", 0, null)], 2, "failed"), START + 60_000);
    expect(cut).toMatchObject({ isRunning: false, seconds: 2, width: 100 });
  });

  it("show a moment as no width, and nothing outside the picture", () => {
    const drawn = bars(operation([phase("active", 3, 3), phase("resized", 5, 5)], 3, "succeeded"), START);
    expect(drawn.map(({ width }) => width)).toEqual([0, 0]);
    expect(drawn.map(({ left }) => left)).toEqual([60, 100]);
  });

  it("are drawn before any time has passed", () => {
    expect(bars(operation([phase("requested", 0, null)], null, "running"), START - 500)[0]).toMatchObject({
      left: 0,
      width: 0,
    });
  });
});

it("says phases in words", () => {
  expect(phaseWords("access_ready")).toBe("Access ready");
  expect(phaseWords("gpus_checked")).toBe("GPUs checked");
});
