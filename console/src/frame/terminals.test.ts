// @vitest-environment happy-dom
import { beforeEach, expect, test } from "vitest";
import { forgetTerminal, keepTerminal, openTerminal, read, showTerminal, terminals, titleOf } from "./terminals";

const first = { id: "alloc_1", name: "first" };
const second = { id: "alloc_2", name: "second" };
const names = () => terminals.get().open.map((each) => titleOf(each, terminals.get().open));
const shownName = () => terminals.get().open.find(({ key }) => key === terminals.get().shown)?.name;
const keyAt = (index: number) => terminals.get().open[index]?.key ?? "";

beforeEach(() => {
  for (const { key } of terminals.get().open) forgetTerminal(key);
});

test("a new terminal is shown, and a second one on the same machine has a number", () => {
  openTerminal(first);
  openTerminal(first);
  openTerminal(second, { record: true });
  expect(names()).toEqual(["first", "first (2)", "second"]);
  expect([shownName(), terminals.get().isPanelOpen, terminals.get().open[2]?.record]).toEqual(["second", true, true]);
});

test("what is open is there after a reload, with the way back into its shell", () => {
  openTerminal(first);
  keepTerminal(keyAt(0), { sessionId: "term_1" });
  const again = read(sessionStorage);
  expect(again.open).toEqual([{ ...terminals.get().open[0], sessionId: "term_1" }]);
  expect([again.shown, again.isPanelOpen]).toEqual([keyAt(0), true]);
});

test("after the one that is looked at its neighbour is shown, and after the last the panel is gone", () => {
  openTerminal(first);
  openTerminal(second);
  showTerminal(keyAt(0));
  forgetTerminal(keyAt(0));
  expect([shownName(), terminals.get().isPanelOpen]).toEqual(["second", true]);
  forgetTerminal(keyAt(0));
  expect(terminals.get()).toEqual({ open: [], shown: null, isPanelOpen: false });
});

test("what a browser kept wrongly is no reason to fail", () => {
  for (const kept of ["", "{", "null", "[]", '{"open": 3}', '{"open": [null]}', '{"open": [{"key": "a"}]}']) {
    expect(read({ getItem: () => kept }).open).toEqual([]);
  }
});
