import { describe, expect, it } from "vitest";
import { Problem } from "../../../api/problem";
import type { Allocation } from "../../../api/queries/allocations";
import type { Sku } from "../../../api/queries/skus";
import { firstOfCount, refusal, sizeChoices } from "./sizes";

const ROOM = { disk_gib: 20, init: "plain", shares_cpus: false, not_placeable: "" } as const;

const SKU: Sku = {
  sku: "sim-h200-slice",
  title: "H200",
  shape: "gpu_slice",
  gpu_family: "h200",
  allowed_counts: [1, 2],
  sizes: [
    { name: "standard", gpu_count: 2, vcpus: 16, memory_mib: 65_536, ...ROOM },
    { name: "standard", gpu_count: 1, vcpus: 8, memory_mib: 32_768, ...ROOM },
    { name: "large", gpu_count: 1, vcpus: 12, memory_mib: 49_152, ...ROOM },
    { name: "standard", gpu_count: 8, vcpus: 64, memory_mib: 262_144, ...ROOM },
  ],
  price_per_gpu_hour: { amount_minor: 250, currency: "USD" },
  simulated: true,
};

describe("sizes to choose from", () => {
  it("are those that are sold, smallest first, with their price and the present one marked", () => {
    const choices = sizeChoices(SKU, { gpu_count: 1, size: "large" } as Allocation);
    expect(choices.map(({ value, price, isNow }) => [value, price.amount_minor, isNow])).toEqual([
      ["1 standard", 250, false],
      ["1 large", 250, true],
      ["2 standard", 500, false],
    ]);
  });

  it("take the first size that is listed for a count", () => {
    expect(firstOfCount(SKU, 1)?.name).toBe("standard");
    expect(firstOfCount(SKU, 4)).toBeNull();
  });
});

describe("a refused resize", () => {
  it("says what fits here and whether anything fits elsewhere", () => {
    const problem = new Problem({ code: "resize_unavailable", facts: { fits_here: [2], elsewhere: ["local"] } });
    expect(refusal(problem)).toEqual({ fitsHere: [2], fitsElsewhere: true });
  });

  it("offers nothing when it was refused for another reason", () => {
    expect(refusal(new Problem({ code: "illegal_move", facts: {} }))).toEqual({ fitsHere: [], fitsElsewhere: false });
  });
});
