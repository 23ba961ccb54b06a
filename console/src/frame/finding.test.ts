// @vitest-environment node
import { expect, test } from "vitest";
import { type Findable, find } from "./finding";

const things: Findable[] = [
  { name: "retrain", id: "alloc_1", href: "/1" },
  { name: "train-7", id: "alloc_2", href: "/2" },
  { name: "other", id: "alloc_train", href: "/3" },
];

test("names that begin with the text come first, then names that hold it, then ids", () => {
  expect(find(things, "TRAIN ").map(({ href }) => href)).toEqual(["/2", "/1", "/3"]);
});

test("an id finds its thing", () => {
  expect(find(things, "alloc_1").map(({ href }) => href)).toEqual(["/1"]);
});

test("nothing typed shows a few, and what is nowhere finds nothing", () => {
  const many = Array.from({ length: 50 }, (_, n) => ({ name: `m${n}`, id: `${n}`, href: `/${n}` }));
  expect(find(many, "")).toHaveLength(6);
  expect(find(many, "zebra")).toEqual([]);
});
