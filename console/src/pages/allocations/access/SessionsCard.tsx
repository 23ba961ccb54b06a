import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import FormField from "@cloudscape-design/components/form-field";
import Input from "@cloudscape-design/components/input";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import { useState } from "react";
import type { Allocation } from "../../../api/queries/allocations";
import { type LiveSession, useEndSession, useLiveSessions } from "../../../api/queries/sessions";
import { Ago } from "../../../parts/Ago";
import { Ask } from "../../../parts/Ask";
import { bytes } from "../../../parts/bytes";
import { type Column, DataTable } from "../../../parts/DataTable";
import { View } from "../../../parts/View";
import { Fingerprint } from "./KeysCard";
import type { Rights } from "./rights";

interface Props {
  allocation: Allocation;
  rights: Rights;
  myId: string;
}

/** Who is in now, as the node last said. */
export function SessionsCard({ allocation, rights, myId }: Props) {
  const sessions = useLiveSessions(allocation.id);
  const [ending, setEnding] = useState<LiveSession | null>(null);
  const mayEnd = ({ user_id }: LiveSession) => rights.decides || (rights.works && user_id === myId);
  return (
    <View of={sessions} what="sessions">
      {(seen) => (
        <>
          <DataTable
            id="sessions"
            title="In it now"
            what="sessions"
            rows={seen.items}
            rowId={(session) => session.id}
            columns={columnsFor(myId, mayEnd, setEnding)}
            isPlain
            description={<Observed at={seen.observed_at} isCurrent={seen.is_current} />}
            empty="Nobody is in, by SSH or by a terminal in the browser."
          />
          {ending && <EndDialog allocation={allocation} session={ending} onDone={() => setEnding(null)} />}
        </>
      )}
    </View>
  );
}

/** While the node answers it tells every change, so what it said last is how it is. */
function Observed({ at, isCurrent }: { at: string | null; isCurrent: boolean }) {
  if (isCurrent) return <StatusIndicator type="success">The node tells who comes and goes</StatusIndicator>;
  if (at === null) return <StatusIndicator type="pending">Its node has told nothing yet</StatusIndicator>;
  return (
    <StatusIndicator type="warning">
      As it was <Ago at={at} />; nobody can tell how it is now
    </StatusIndicator>
  );
}

function columnsFor(
  myId: string,
  mayEnd: (session: LiveSession) => boolean,
  onEnd: (session: LiveSession) => void,
): readonly Column<LiveSession>[] {
  return [
    {
      id: "email",
      header: "Person",
      sortingField: "email",
      cell: (row) => (row.user_id === myId ? "You" : row.email || "Not known"),
    },
    { id: "kind", header: "By", sortingField: "kind", cell: (row) => (row.kind === "terminal" ? "Terminal" : "SSH") },
    {
      id: "key",
      header: "Key",
      cell: (row) => (row.key_fingerprint ? <Fingerprint of={row.key_fingerprint} /> : "None needed"),
    },
    { id: "source", header: "From", sortingField: "source", cell: (row) => row.source },
    { id: "since", header: "Since", sortingField: "opened_at", cell: (row) => <Ago at={row.opened_at} /> },
    {
      id: "bytes",
      header: "In / out",
      cell: (row) => (row.kind === "terminal" ? "Not counted" : `${bytes(row.bytes_in)} / ${bytes(row.bytes_out)}`),
    },
    {
      id: "actions",
      header: "Actions",
      cell: (row) => {
        if (row.is_ending) return <StatusIndicator type="in-progress">Ending</StatusIndicator>;
        if (!mayEnd(row)) return "";
        return (
          <Button
            variant="inline-link"
            ariaLabel={`End the session of ${row.email} from ${row.source}`}
            onClick={() => onEnd(row)}
          >
            End
          </Button>
        );
      },
    },
  ];
}

function EndDialog({
  allocation,
  session,
  onDone,
}: {
  allocation: Allocation;
  session: LiveSession;
  onDone: () => void;
}) {
  const [reason, setReason] = useState("");
  const end = useEndSession(allocation.id);
  return (
    <Ask
      title={`End the session of ${session.email}?`}
      verb="End the session"
      onConfirm={() => end.mutate({ id: session.id, reason }, { onSuccess: onDone })}
      onClose={onDone}
      asked={end}
    >
      <div>
        <strong>Ends:</strong> this connection from {session.source}, and what runs in its foreground.
      </div>
      <div>
        <strong>Stays:</strong> their right to come in again. To keep them out, revoke their grant or take their key
        away.
      </div>
      <FormField label="Why" description="They are told.">
        <Input value={reason} onChange={({ detail }) => setReason(detail.value)} />
      </FormField>
      <Box color="text-body-secondary">
        Since <Ago at={session.opened_at} />.
      </Box>
    </Ask>
  );
}
