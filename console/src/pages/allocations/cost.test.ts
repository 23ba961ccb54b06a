import { describe, expect, it } from "vitest";
import { costSoFar } from "./cost";

const price_per_hour = { amount_minor: 250, currency: "USD" };
const noon = Date.parse("2026-03-01T12:00:00Z");

describe("cost so far", () => {
  it("is nothing before billing begins", () => {
    expect(costSoFar({ billing: { state: "not_started" }, price_per_hour }, noon)).toEqual({
      amountMinor: 0,
      seconds: 0,
    });
  });

  it("is the price times the time since billing began", () => {
    const billing = { state: "running", started_at: "2026-03-01T10:30:00Z" } as const;
    expect(costSoFar({ billing, price_per_hour }, noon)).toEqual({ amountMinor: 375, seconds: 5_400 });
  });

  it("stands still once billing has stopped", () => {
    const billing = {
      state: "stopped",
      started_at: "2026-03-01T10:00:00Z",
      stopped_at: "2026-03-01T11:00:00Z",
    } as const;
    expect(costSoFar({ billing, price_per_hour }, noon).amountMinor).toBe(250);
    expect(costSoFar({ billing, price_per_hour }, noon + 3_600_000).amountMinor).toBe(250);
  });

  it("is never below nothing, though clocks differ", () => {
    const billing = { state: "running", started_at: "2026-03-01T12:00:05Z" } as const;
    expect(costSoFar({ billing, price_per_hour }, noon).amountMinor).toBe(0);
  });
});
