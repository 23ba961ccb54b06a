import FormField from "@cloudscape-design/components/form-field";
import Input from "@cloudscape-design/components/input";
import { useState } from "react";
import { type AccessGrant, useChangeGrant, useRevokeGrant } from "../../../api/queries/access";
import type { Allocation } from "../../../api/queries/allocations";
import { notify } from "../../../frame/notices";
import { Until } from "../../../parts/Ago";
import { Ask } from "../../../parts/Ask";
import { EndTimeField } from "./EndTimeField";
import { momentOf, NO_END } from "./endTime";
import { KeySelect } from "./KeySelect";

interface Props {
  allocation: Pick<Allocation, "id" | "name">;
  grant: AccessGrant;
  myId: string;
  onDone: () => void;
}

/** The key is the grantee's to choose. */
export function ChooseKeyDialog({ allocation, grant, onDone }: Props) {
  const [keyId, setKeyId] = useState(grant.ssh_key_id);
  const change = useChangeGrant(allocation.id);
  return (
    <Ask
      title={`Your key for ${allocation.name}`}
      verb="Use this key"
      onConfirm={() => keyId && change.mutate({ id: grant.id, body: { ssh_key_id: keyId } }, { onSuccess: onDone })}
      onClose={onDone}
      notYet={keyId ? "" : "Choose a key first."}
      asked={change}
    >
      <KeySelect label="Key to get in with" value={keyId} onChange={setKeyId} />
      {grant.ssh_key_id && <div>Sessions by the key you used before are cut.</div>}
    </Ask>
  );
}

export function EndTimeDialog({ allocation, grant, onDone }: Props) {
  const [end, setEnd] = useState(NO_END);
  const change = useChangeGrant(allocation.id);
  const expiresAt = momentOf(end, new Date());
  const keep = () => {
    if (expiresAt !== undefined)
      change.mutate({ id: grant.id, body: { expires_at: expiresAt } }, { onSuccess: onDone });
  };
  return (
    <Ask
      title={`How long ${grant.email} may enter`}
      verb="Set the end"
      onConfirm={keep}
      onClose={onDone}
      notYet={expiresAt === undefined ? "Type a time that is still to come." : ""}
      asked={change}
    >
      <div>Now: {grant.expires_at ? <Until at={grant.expires_at} /> : "until it is taken back"}.</div>
      <EndTimeField label="From now on" value={end} onChange={setEnd} />
    </Ask>
  );
}

/** Takes back what was given, refuses what was asked for, gives up one's own. */
export function RevokeDialog({ allocation, grant, myId, onDone }: Props) {
  const [reason, setReason] = useState("");
  const revoke = useRevokeGrant(allocation.id);
  const isMine = grant.user_id === myId;
  const isAsked = grant.status === "asked";
  const verb = isMine ? (isAsked ? "Withdraw" : "Give up") : isAsked ? "Refuse" : "Revoke";
  const done = ({ notice }: AccessGrant) => {
    onDone();
    if (!isMine && !isAsked && notice) notify("info", `${grant.email} is out of ${allocation.name}`, notice);
  };
  return (
    <Ask
      title={`${verb} ${isMine ? "your access" : `the access of ${grant.email}`} to ${allocation.name}?`}
      verb={verb}
      onConfirm={() => revoke.mutate({ id: grant.id, reason }, { onSuccess: done })}
      onClose={onDone}
      asked={revoke}
    >
      {!isAsked && (
        <div>
          <strong>Ends:</strong> new logins with this key within a second, its open SSH sessions, their terminals.
        </div>
      )}
      {!isAsked && (
        <div>
          <strong>Stays:</strong> the machine, and what they started on it. Who could run programs there may have left
          other doors: look for processes, scheduled jobs and keys that you do not know.
        </div>
      )}
      <FormField
        label="Why"
        description={
          isMine ? "Kept in the machine's activity." : "They are told, and it is kept in the machine's activity."
        }
      >
        <Input value={reason} onChange={({ detail }) => setReason(detail.value)} />
      </FormField>
    </Ask>
  );
}
