// @vitest-environment node
import { expect, test } from "vitest";
import { csv, jsonLines } from "./csv";

test("fields with commas, quotes and line breaks come out as they went in", () => {
  expect(csv(["a", "b"], [['x,"y"', "one\ntwo"]])).toBe('a,b\r\n"x,""y""","one\ntwo"\r\n');
});

test("nothing is an empty field", () => {
  expect(csv(["a", "b", "c"], [[null, undefined, 0]])).toBe("a,b,c\r\n,,0\r\n");
});

test("what a spreadsheet would compute is made text; a number stays one", () => {
  expect(csv(["a"], [["=1+1"], ["@x"], [-3]])).toBe("a\r\n'=1+1\r\n'@x\r\n-3\r\n");
});

test("JSON lines are one document a line", () => {
  expect(jsonLines([{ a: 1 }, { b: "x\ny" }])).toBe('{"a":1}\n{"b":"x\\ny"}\n');
});
