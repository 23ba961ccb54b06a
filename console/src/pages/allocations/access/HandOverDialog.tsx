import FormField from "@cloudscape-design/components/form-field";
import Input from "@cloudscape-design/components/input";
import { useState } from "react";
import { useAccessGrants, useHandOver } from "../../../api/queries/access";
import type { Allocation } from "../../../api/queries/allocations";
import { Ask } from "../../../parts/Ask";
import { MemberField } from "./ShareDialogs";

interface Props {
  allocation: Allocation;
  onDone: () => void;
}

/** Another member holds it from now on. */
export function HandOverDialog({ allocation, onDone }: Props) {
  const [userId, setUserId] = useState("");
  const [reason, setReason] = useState("");
  const hand = useHandOver(allocation.id);
  const grants = useAccessGrants(allocation.id).data ?? [];
  const hasKey = grants.some(({ user_id, status }) => user_id === userId && status === "active");
  return (
    <Ask
      title={`Hand over ${allocation.name}`}
      verb="Hand over"
      onConfirm={() => hand.mutate({ user_id: userId, reason }, { onSuccess: onDone })}
      onClose={onDone}
      notYet={userId === "" ? "Choose a member first." : ""}
      asked={hand}
    >
      <MemberField allocation={allocation} label="To" value={userId} onChange={setUserId} />
      <FormField label="Why" description="Kept in the machine's activity.">
        <Input value={reason} onChange={({ detail }) => setReason(detail.value)} />
      </FormField>
      <div>
        <strong>Changes:</strong> they decide on it from now on, and the present holder's keys no longer open it.{" "}
        {hasKey
          ? "The key they were granted stays."
          : "They add a key of their own on this page; until then only others it is shared with get in."}
      </div>
      <div>
        <strong>Stays:</strong> the machine, its address, its files and programs, its price.
      </div>
    </Ask>
  );
}
