import type { UseQueryResult } from "@tanstack/react-query";
import { LOOK_AGAIN_MS } from "../../api/watching";
import { Ago } from "../../parts/Ago";

/** How old what is shown is. */
export function Seen({ of }: { of: Pick<UseQueryResult, "dataUpdatedAt"> }) {
  if (of.dataUpdatedAt === 0) return null;
  return (
    <>
      Seen <Ago at={new Date(of.dataUpdatedAt).toISOString()} />, looked at again every {LOOK_AGAIN_MS / 1_000} s
    </>
  );
}
