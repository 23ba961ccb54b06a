import type { BreakGlass } from "../../api/queries/access";

/** Neither ended nor expired. */
export function isOpen({ ended_at, expires_at }: Pick<BreakGlass, "ended_at" | "expires_at">, now: number): boolean {
  return !ended_at && Date.parse(expires_at) > now;
}
