import type { Allocation } from "../../../api/queries/allocations";
import { may } from "../../../frame/permissions";

export interface Rights {
  /** Chooses keys: its holder, or who acts as one. */
  isHolder: boolean;
  /** Shares the allocation, changes its keys, ends connections. */
  decides: boolean;
  /** May be given allocations, and ask for them. */
  works: boolean;
}

/** Spares people buttons that would be refused. */
export function rightsOf(allocation: Pick<Allocation, "permissions">): Rights {
  return {
    isHolder: may(allocation, "keys:choose"),
    decides: may(allocation, "access:manage"),
    works: may(allocation, "access:ask"),
  };
}
