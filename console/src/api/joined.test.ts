import { describe, expect, it } from "vitest";
import { joined } from "./joined";
import type { Entry } from "./live";

const entry = (id: number) => ({ id }) as Entry;
const ids = ({ entries }: { entries: readonly Entry[] }) => entries.map(({ id }) => id);

describe("a timeline that is looked at again", () => {
  const known = { entries: [entry(5), entry(4), entry(3)], older: "before 3" };

  it("puts new entries before the known ones and goes on from where it was", () => {
    const seen = joined({ items: [entry(7), entry(6), entry(5), entry(4)], next_cursor: "before 4" }, known);
    expect(ids(seen)).toEqual([7, 6, 5, 4, 3]);
    expect(seen.older).toBe("before 3");
  });

  it("stays the very same when nothing is new", () => {
    expect(joined({ items: [entry(5), entry(4)], next_cursor: null }, known)).toBe(known);
  });

  it("is never shown with a gap", () => {
    const seen = joined({ items: [entry(99), entry(98)], next_cursor: "before 98" }, known);
    expect(ids(seen)).toEqual([99, 98]);
    expect(seen.older).toBe("before 98");
  });

  it("begins with the first page", () => {
    const seen = joined({ items: [entry(2), entry(1)], next_cursor: null }, { entries: [], older: null });
    expect(ids(seen)).toEqual([2, 1]);
    expect(seen.older).toBeNull();
  });
});
