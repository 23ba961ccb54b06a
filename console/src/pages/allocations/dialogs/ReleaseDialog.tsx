import { useState } from "react";
import { newId } from "../../../api/client";
import { useConsequences, useRelease } from "../../../api/queries/allocations";
import { Ask } from "../../../parts/Ask";
import type { DialogProps } from "./Dialog";
import { Reason } from "./Reason";
import { NOT_SEEN, WhatSurvives } from "./WhatSurvives";

export function ReleaseDialog({ allocation, onClose }: DialogProps) {
  const consequences = useConsequences(allocation.id, "release");
  const release = useRelease(allocation.id);
  const [reason, setReason] = useState("");
  const [key] = useState(newId);
  return (
    <Ask
      title={`Release ${allocation.name}?`}
      verb={allocation.status === "release_failed" ? "Release again" : "Release"}
      notYet={consequences.data ? "" : NOT_SEEN}
      asked={release}
      onConfirm={() => release.mutate({ body: { reason }, key }, { onSuccess: onClose })}
      onClose={onClose}
    >
      <WhatSurvives of={consequences} />
      <Reason value={reason} onChange={setReason} />
    </Ask>
  );
}
