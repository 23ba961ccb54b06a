import { describe, expect, it } from "vitest";
import { laidOut, readRecipe } from "./recipe";

const WHOLE = { product_name: "P", slug: "p", version: "1", vendor: "V", runtime_family: "cpu", recipe: {} };

describe("a recipe file", () => {
  it("is read as it is", () => {
    expect(readRecipe(JSON.stringify(WHOLE))).toEqual({ bundle: WHOLE });
  });

  it("says what it lacks", () => {
    const { vendor: _, ...rest } = WHOLE;
    expect(readRecipe(JSON.stringify(rest))).toEqual({ wrong: "It does not say vendor." });
  });

  it("is laid out when it can be", () => {
    expect(laidOut('{"a":1}')).toBe('{\n  "a": 1\n}');
    expect(laidOut("{")).toBe("{");
  });

  it("is refused when it is no object, or no JSON", () => {
    expect(readRecipe("[]")).toEqual({ wrong: "A recipe file holds one JSON object." });
    expect(readRecipe("{")).toHaveProperty("wrong");
  });
});
