import type { AccessGrant, AllocationKeys } from "../../../api/queries/access";
import type { SshKey } from "../../../api/queries/sshKeys";

export interface KeyRow {
  fingerprint: string;
  title: string;
  owner: string;
  how: string;
  endsAt: string | null;
}

interface Known {
  holder: string;
  mine: readonly SshKey[];
  grants: readonly AccessGrant[];
}

/** A key that is both the holder's and granted stands there once, as the holder's. */
export function rowsOf(
  { fingerprints }: Pick<AllocationKeys, "fingerprints">,
  { holder, mine, grants }: Known,
): KeyRow[] {
  return fingerprints.map((fingerprint) => {
    const grant = grants.find(({ key_fingerprint, status }) => key_fingerprint === fingerprint && status === "active");
    const title = mine.find((key) => key.fingerprint === fingerprint)?.title ?? "";
    return {
      fingerprint,
      title,
      owner: grant ? grant.email : holder,
      how: grant ? "Granted" : "Holder",
      endsAt: grant?.expires_at ?? null,
    };
  });
}
