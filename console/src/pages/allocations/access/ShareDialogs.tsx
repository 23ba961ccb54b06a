import Alert from "@cloudscape-design/components/alert";
import FormField from "@cloudscape-design/components/form-field";
import Input from "@cloudscape-design/components/input";
import Select from "@cloudscape-design/components/select";
import { useState } from "react";
import { type AccessGrant, useAskAccess, useCreateGrant } from "../../../api/queries/access";
import type { Allocation } from "../../../api/queries/allocations";
import { useMembers } from "../../../api/queries/members";
import { Ask } from "../../../parts/Ask";
import { EndTimeField } from "./EndTimeField";
import { momentOf, NO_END } from "./endTime";
import { KeySelect } from "./KeySelect";

interface Props {
  allocation: Allocation;
  myId: string;
  onDone: () => void;
}

/** With a member, for a while or for good; for somebody who asked, this says yes. */
export function ShareDialog({ allocation, myId, asker, onDone }: Props & { asker: AccessGrant | null }) {
  const [userId, setUserId] = useState(asker?.user_id ?? "");
  const [end, setEnd] = useState(NO_END);
  const [keyId, setKeyId] = useState<string | null>(null);
  const grant = useCreateGrant(allocation.id);
  const expiresAt = momentOf(end, new Date());
  const share = () => {
    const key = userId === myId && keyId ? { ssh_key_id: keyId } : {};
    if (expiresAt !== undefined)
      grant.mutate({ user_id: userId, expires_at: expiresAt, ...key }, { onSuccess: onDone });
  };
  return (
    <Ask
      title={asker ? `Let ${asker.email} in?` : `Share ${allocation.name}`}
      verb={asker ? "Approve" : "Share"}
      onConfirm={share}
      onClose={onDone}
      notYet={
        userId === "" ? "Choose a member first." : expiresAt === undefined ? "Type a time that is still to come." : ""
      }
      asked={grant}
    >
      {asker?.status_reason && <div>They say: “{asker.status_reason}”</div>}
      {!asker && <MemberField allocation={allocation} label="With" value={userId} onChange={setUserId} />}
      {userId === myId && <KeySelect label="Your key" value={keyId} onChange={setKeyId} />}
      <EndTimeField label="How long" value={end} onChange={setEnd} />
      <Alert>
        They log in as the same user as you, with a key of their own, and see everything on the machine.
        {!asker?.key_fingerprint && userId !== myId && " Until they have chosen a key the grant waits for them."}
      </Alert>
    </Ask>
  );
}

interface MemberProps {
  allocation: Allocation;
  label: string;
  value: string;
  onChange: (userId: string) => void;
}

/** Who works in the project, its holder left out. */
export function MemberField({ allocation, label, value, onChange }: MemberProps) {
  const members = useMembers(allocation.project_id);
  const options = (members.data ?? [])
    .filter(({ user_id, can_be_granted }) => can_be_granted && user_id !== allocation.holder)
    .map(({ user_id, email, role }) => ({ value: user_id, label: email, description: role }));
  return (
    <FormField label={label} description="Members of the project, but no viewers.">
      <Select
        placeholder="Choose a member"
        filteringType={options.length > 8 ? "auto" : "none"}
        filteringAriaLabel="Find a member"
        selectedOption={options.find((option) => option.value === value) ?? null}
        options={options}
        statusType={members.isPending ? "loading" : members.isError ? "error" : "finished"}
        loadingText="Loading members"
        errorText="Members could not be loaded"
        empty="Nobody else works in this project. Invite somebody under Members."
        onChange={({ detail }) => onChange(detail.selectedOption.value ?? "")}
      />
    </FormField>
  );
}

export function AskDialog({ allocation, onDone }: Props) {
  const [reason, setReason] = useState("");
  const [keyId, setKeyId] = useState<string | null>(null);
  const ask = useAskAccess(allocation.id);
  return (
    <Ask
      title={`Ask for access to ${allocation.name}`}
      verb="Ask"
      onConfirm={() => ask.mutate({ reason, ...(keyId ? { ssh_key_id: keyId } : {}) }, { onSuccess: onDone })}
      onClose={onDone}
      asked={ask}
    >
      <KeySelect label="Key to get in with" value={keyId} onChange={setKeyId} />
      <FormField label="What for" description="Its holder reads this.">
        <Input value={reason} onChange={({ detail }) => setReason(detail.value)} placeholder="To look at the loss" />
      </FormField>
    </Ask>
  );
}
