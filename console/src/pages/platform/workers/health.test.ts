import { describe, expect, it } from "vitest";
import { healthOf } from "./health";

const WELL = { disabled_at: null, failing: 0, oldest_due_seconds: null };

describe("the health of a worker", () => {
  it("is the worst that is true", () => {
    expect(healthOf(WELL)).toBe("Well");
    expect(healthOf({ ...WELL, oldest_due_seconds: 29 })).toBe("Well");
    expect(healthOf({ ...WELL, oldest_due_seconds: 31 })).toBe("Behind");
    expect(healthOf({ ...WELL, failing: 1, oldest_due_seconds: 31 })).toBe("Failing");
    expect(healthOf({ ...WELL, failing: 1, disabled_at: "2026-01-01T00:00:00Z" })).toBe("Switched off");
  });
});
