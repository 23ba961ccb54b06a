import Button from "@cloudscape-design/components/button";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import { useState } from "react";
import { type AllocationKeys, useAccessGrants, useAllocationKeys } from "../../../api/queries/access";
import type { Allocation } from "../../../api/queries/allocations";
import { usePerson } from "../../../api/queries/members";
import { useSshKeys } from "../../../api/queries/sshKeys";
import { Until } from "../../../parts/Ago";
import { type Column, DataTable } from "../../../parts/DataTable";
import { View } from "../../../parts/View";
import { ChangeKeysDialog } from "./ChangeKeysDialog";
import { type KeyRow, rowsOf } from "./keys";
import type { Rights } from "./rights";

const COLUMNS: readonly Column<KeyRow>[] = [
  { id: "owner", header: "Belongs to", sortingField: "owner", cell: (row) => row.owner },
  {
    id: "key",
    header: "Key",
    sortingField: "title",
    cell: ({ title, fingerprint }) => (
      <>
        {title && <div>{title}</div>}
        <Fingerprint of={fingerprint} />
      </>
    ),
  },
  { id: "how", header: "By", sortingField: "how", cell: (row) => row.how },
  { id: "until", header: "Until", cell: (row) => (row.endsAt ? <Until at={row.endsAt} /> : "No end") },
];

export function Fingerprint({ of }: { of: string }) {
  return <code className="fingerprint">{of}</code>;
}

/** Every key that opens the machine now, and whose it is. */
export function KeysCard({ allocation, rights }: { allocation: Allocation; rights: Rights }) {
  const keys = useAllocationKeys(allocation.id);
  const grants = useAccessGrants(allocation.id).data ?? [];
  const mine = useSshKeys().data ?? [];
  const person = usePerson(allocation.project_id);
  const [isChanging, setChanging] = useState(false);
  const holder = rights.isHolder ? "You" : person(allocation.holder);
  return (
    <View of={keys} what="keys">
      {(seen) => (
        <>
          <DataTable
            id="allocation-keys"
            title="SSH keys that open it"
            what="keys"
            rows={rowsOf(seen, { holder, mine, grants })}
            rowId={(row) => row.fingerprint}
            columns={COLUMNS}
            isPlain
            description={<Installed keys={seen} isSilent={allocation.health === "unreachable"} />}
            actions={rights.decides && <Button onClick={() => setChanging(true)}>Change keys</Button>}
            empty="No key opens this machine. Add one to log in by SSH; a terminal in the browser needs none."
          />
          {isChanging && (
            <ChangeKeysDialog allocation={allocation} keys={seen} rights={rights} onDone={() => setChanging(false)} />
          )}
        </>
      )}
    </View>
  );
}

/** What was observed, as long as there is somebody who can observe it. */
function Installed({ keys, isSilent }: { keys: AllocationKeys; isSilent: boolean }) {
  if (!keys.installed) return <StatusIndicator type="in-progress">On their way to the machine</StatusIndicator>;
  if (isSilent)
    return <StatusIndicator type="warning">The machine admitted these when it was last heard</StatusIndicator>;
  return <StatusIndicator type="success">The machine admits exactly these</StatusIndicator>;
}
