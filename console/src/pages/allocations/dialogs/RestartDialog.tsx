import { useState } from "react";
import { newId } from "../../../api/client";
import { useConsequences, useRestart } from "../../../api/queries/allocations";
import { Ask } from "../../../parts/Ask";
import type { DialogProps } from "./Dialog";
import { Reason } from "./Reason";
import { NOT_SEEN, WhatSurvives } from "./WhatSurvives";

export function RestartDialog({ allocation, onClose }: DialogProps) {
  const consequences = useConsequences(allocation.id, "restart");
  const restart = useRestart(allocation.id);
  const [reason, setReason] = useState("");
  const [key] = useState(newId);
  return (
    <Ask
      title={`Restart ${allocation.name}?`}
      verb="Restart"
      notYet={consequences.data ? "" : NOT_SEEN}
      asked={restart}
      onConfirm={() => restart.mutate({ body: { reason }, key }, { onSuccess: onClose })}
      onClose={onClose}
    >
      <WhatSurvives of={consequences} />
      <Reason value={reason} onChange={setReason} />
    </Ask>
  );
}
