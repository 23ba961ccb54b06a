import { newId } from "../api/client";
import type { Allocation } from "../api/queries/allocations";
import { Store } from "./store";

/** A terminal of this tab. The shell is the server's: `sessionId` leads back into it, after a reload too. */
export interface OpenTerminal {
  readonly key: string;
  readonly allocationId: string;
  readonly name: string;
  readonly sessionId: string | null;
  readonly record: boolean;
}

export interface Terminals {
  readonly open: readonly OpenTerminal[];
  /** The one that is looked at. */
  readonly shown: string | null;
  readonly isPanelOpen: boolean;
}

const KEPT = "gpuaas-terminals";
const NONE: Terminals = { open: [], shown: null, isPanelOpen: false };

/** Kept for this tab alone: a terminal is shown in one window at a time. */
export const terminals = new Store<Terminals>(read(sessionStorage));

function change(next: Partial<Terminals>): void {
  const changed = { ...terminals.get(), ...next };
  sessionStorage.setItem(KEPT, JSON.stringify(changed));
  terminals.set(changed);
}

/** A new terminal on a machine, in the panel below the pages. */
export function openTerminal(allocation: Pick<Allocation, "id" | "name">, { record = false } = {}): void {
  const key = newId();
  const opened = { key, allocationId: allocation.id, name: allocation.name, sessionId: null, record };
  change({ open: [...terminals.get().open, opened], shown: key, isPanelOpen: true });
}

/** No longer in this tab; whoever wants the shell to end says so to the server. */
export function forgetTerminal(key: string): void {
  const { open, shown } = terminals.get();
  const at = open.findIndex((each) => each.key === key);
  const left = open.filter((each) => each.key !== key);
  const next = left[Math.min(at, left.length - 1)]?.key ?? null;
  change({
    open: left,
    shown: shown === key ? next : shown,
    isPanelOpen: left.length > 0 && terminals.get().isPanelOpen,
  });
}

export function showTerminal(key: string): void {
  change({ shown: key, isPanelOpen: true });
}

export function showPanel(isPanelOpen: boolean): void {
  change({ isPanelOpen });
}

/** What was learnt of a terminal: its session, that it is recorded. */
export function keepTerminal(key: string, learnt: Partial<Pick<OpenTerminal, "sessionId" | "record">>): void {
  change({ open: terminals.get().open.map((each) => (each.key === key ? { ...each, ...learnt } : each)) });
}

/** "first", or "first (2)" for the second one on the same machine. */
export function titleOf(terminal: OpenTerminal, open: readonly OpenTerminal[]): string {
  const same = open.filter(({ allocationId }) => allocationId === terminal.allocationId);
  const number = same.findIndex(({ key }) => key === terminal.key) + 1;
  return number > 1 ? `${terminal.name} (${number})` : terminal.name;
}

export function read(storage: Pick<Storage, "getItem">): Terminals {
  try {
    const kept: unknown = JSON.parse(storage.getItem(KEPT) ?? "null");
    return isTerminals(kept) ? kept : NONE;
  } catch {
    return NONE;
  }
}

function isTerminals(kept: unknown): kept is Terminals {
  return (
    typeof kept === "object" && kept !== null && "open" in kept && Array.isArray(kept.open) && kept.open.every(isOpen)
  );
}

function isOpen(each: unknown): each is OpenTerminal {
  return typeof each === "object" && each !== null && "key" in each && "allocationId" in each && "name" in each;
}
