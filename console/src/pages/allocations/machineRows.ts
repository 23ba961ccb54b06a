import type { Allocation } from "../../api/queries/allocations";
import type { Member } from "../../api/queries/members";
import { ALLOCATION, HEALTH } from "../../parts/StatusLabel";
import { isEnded } from "./verbs";

/** A machine with what people look for in words: filters find what the table shows. */
export interface MachineRow extends Allocation {
  statusWords: string;
  healthWords: string;
  region: string;
  holderName: string;
  /** When it ends by itself at the latest; far away when it does not, so that sorting puts the next to end first. */
  endsAt: string;
}

const NEVER = "9999";

/** The rows to be shown, and how many have ended. */
export function machineRows(
  allocations: readonly Allocation[],
  members: readonly Member[],
  isWithEnded: boolean,
): { rows: MachineRow[]; ended: number } {
  const names = new Map(members.map(({ user_id, email }) => [user_id, email]));
  const shown = isWithEnded ? allocations : allocations.filter((one) => !isEnded(one));
  return {
    rows: shown.map((one) => rowOf(one, names)),
    ended: allocations.reduce((count, one) => count + (isEnded(one) ? 1 : 0), 0),
  };
}

const rows = new WeakMap<Allocation, MachineRow>();

/** The same machine is the same row, so that one event among a thousand machines draws one of them again. */
function rowOf(one: Allocation, names: ReadonlyMap<string, string>): MachineRow {
  const holderName = names.get(one.holder) ?? one.holder;
  const known = rows.get(one);
  if (known?.holderName === holderName) return known;
  const row = {
    ...one,
    statusWords: ALLOCATION[one.status][1],
    healthWords: isEnded(one) ? "" : HEALTH[one.health][1],
    region: one.node.region,
    holderName,
    endsAt: isEnded(one) ? NEVER : (one.limits?.expires_at ?? NEVER),
  };
  rows.set(one, row);
  return row;
}
