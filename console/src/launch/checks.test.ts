import { describe, expect, it } from "vitest";
import { freeMountPath, machineNameMistake, mountPathMistake, nameMistake, wholeNumber } from "./checks";

describe("a mount path", () => {
  it.each(["/data", "/data/sets", "/mnt/x", "/srv/a.b-c", "/home/gpu/models", "/workspace", "/volumes/_x"])(
    "may be %s",
    (path) => expect(mountPathMistake(path)).toBeNull(),
  );

  it.each([
    ["data", /begins with/],
    ["/data/", /shortest form/],
    ["/data/../etc", /shortest form/],
    ["/data//x", /shortest form/],
    ["/data/-x", /Letters, digits/],
    ["/data/a b", /Letters, digits/],
    ["/etc", /hide a folder/],
    ["/mnt", /hide a folder/],
    ["/home/gpu", /hide a folder/],
    ["/home/other/x", /hide a folder/],
    ["/database", /hide a folder/],
    [`/data${"/x".repeat(8)}`, /At most 8/],
    ["", /begins with/],
  ])("may not be %s", (path, why) => expect(mountPathMistake(path)).toMatch(why));

  it("may not be where another volume is, nor inside or around it", () => {
    expect(mountPathMistake("/data", ["/data"])).toMatch(/Another volume/);
    expect(mountPathMistake("/data/x", ["/data"])).toMatch(/nested/);
    expect(mountPathMistake("/data", ["/data/x"])).toMatch(/nested/);
    expect(mountPathMistake("/datasets", ["/data"])).toBeNull();
  });

  it("is proposed where nothing is in the way", () => {
    expect(freeMountPath([])).toBe("/data");
    const second = freeMountPath(["/data"]);
    expect(mountPathMistake(second, ["/data"])).toBeNull();
    expect(freeMountPath(["/data", second])).not.toBe(second);
  });
});

describe("a name", () => {
  it("is a hostname", () => {
    for (const name of ["a", "train-a", "x".repeat(63)]) expect(nameMistake(name)).toBeNull();
    for (const name of ["", "-a", "a-", "A", "a_b", "x".repeat(64)]) expect(nameMistake(name)).not.toBeNull();
  });

  it("of a group leaves room for the number behind it", () => {
    expect(machineNameMistake("", 3)).toBeNull();
    expect(machineNameMistake("x".repeat(61), 3)).toBeNull();
    expect(machineNameMistake("x".repeat(62), 3)).toMatch(/61 characters/);
  });
});

it("a whole number is within its bounds, or none", () => {
  expect(wholeNumber("5", 5, 10)).toBe(5);
  for (const text of ["", "4", "11", "5.5", "1e1", "-5", "5 0", "9".repeat(20)])
    expect(wholeNumber(text, 5, 10)).toBeNull();
});
