import { describe, expect, it } from "vitest";
import { costSoFar } from "./cost";

const price_per_hour = { amount_minor: 250, currency: "USD" };
const noon = Date.parse("2026-03-01T12:00:00Z");
const at = "2026-03-01T10:30:00Z";

function cost(amount_minor: number, seconds: number, runs: boolean) {
  return { amount: { amount_minor, currency: "USD" }, seconds, runs, at };
}

describe("cost so far", () => {
  it("is nothing before billing begins", () => {
    expect(costSoFar({ cost_so_far: cost(0, 0, false), price_per_hour }, noon)).toEqual({
      amountMinor: 0,
      seconds: 0,
    });
  });

  it("grows from the sum of the intervals at the present price while usage runs", () => {
    expect(costSoFar({ cost_so_far: cost(1_000, 7_200, true), price_per_hour }, noon)).toEqual({
      amountMinor: 1_375,
      seconds: 12_600,
    });
  });

  it("does not change with the price: a smaller size costs less only from now on", () => {
    const small = { amount_minor: 100, currency: "USD" };
    const read = Date.parse(at);
    expect(costSoFar({ cost_so_far: cost(1_000, 7_200, true), price_per_hour: small }, read).amountMinor).toBe(1_000);
  });

  it("stands still while usage is paused or over", () => {
    expect(costSoFar({ cost_so_far: cost(250, 3_600, false), price_per_hour }, noon).amountMinor).toBe(250);
    expect(costSoFar({ cost_so_far: cost(250, 3_600, false), price_per_hour }, noon + 3_600_000).amountMinor).toBe(250);
  });

  it("never falls, though clocks differ", () => {
    const behind = Date.parse(at) - 5_000;
    expect(costSoFar({ cost_so_far: cost(250, 3_600, true), price_per_hour }, behind).amountMinor).toBe(250);
  });
});
