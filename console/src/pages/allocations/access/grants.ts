import type { AccessGrant } from "../../../api/queries/access";
import type { Rights } from "./rights";

export type GrantVerb = "approve" | "refuse" | "choose" | "end" | "revoke";

const LIVE: readonly AccessGrant["status"][] = ["asked", "awaiting_key", "active"];

export function isLive({ status }: Pick<AccessGrant, "status">): boolean {
  return LIVE.includes(status);
}

/** What can be done with a grant, by whom. */
export function verbsOf(grant: AccessGrant, rights: Rights, myId: string): (readonly [GrantVerb, string])[] {
  if (!isLive(grant)) return [];
  const isMine = grant.user_id === myId;
  const verbs: (readonly [GrantVerb, string])[] = [];
  if (isMine) verbs.push(["choose", grant.key_fingerprint ? "Change key" : "Choose a key"]);
  if (rights.decides && grant.status === "asked") return [...verbs, ["approve", "Approve"], ["refuse", "Refuse"]];
  if (rights.decides) verbs.push(["end", grant.expires_at ? "Extend" : "Set an end"]);
  if (rights.decides || isMine)
    verbs.push(["revoke", rights.decides ? "Revoke" : isMine && grant.status === "asked" ? "Withdraw" : "Give up"]);
  return verbs;
}

/** What has to happen next, and who does it. */
export function nextWords({ status, status_reason, installed, email }: AccessGrant, isMine: boolean): string {
  if (status === "asked") return status_reason && `“${status_reason}”`;
  if (status === "awaiting_key")
    return isMine ? "Choose a key of yours to get in." : `${email} has to choose a key of theirs.`;
  if (status === "active") return installed ? "" : "On its way to the machine.";
  return status_reason;
}
