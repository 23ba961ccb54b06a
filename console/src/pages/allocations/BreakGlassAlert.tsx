import Alert from "@cloudscape-design/components/alert";
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import { useState } from "react";
import { type BreakGlass, useBreakGlass, useEndBreakGlass } from "../../api/queries/access";
import type { Allocation } from "../../api/queries/allocations";
import { notify } from "../../frame/notices";
import { may } from "../../frame/permissions";
import { Ago, useNow } from "../../parts/Ago";
import { Ask } from "../../parts/Ask";
import { Consequences } from "../../parts/Consequences";
import { Link } from "../../parts/Link";
import { isOpen } from "./breakGlass";

/** While an operator has break-glass access: who, why, until when, and how to end it. */
export function BreakGlassAlert({ allocation }: { allocation: Allocation }) {
  const now = useNow();
  const [isAsking, setIsAsking] = useState(false);
  const open = (useBreakGlass(allocation.id).data ?? []).filter((each) => isOpen(each, now));
  if (open.length === 0) return null;
  const mayEnd = may(allocation, "access:manage");
  return (
    <Box padding={{ bottom: "l" }}>
      <Alert
        type="warning"
        header="An operator has access to this allocation"
        action={mayEnd && <Button onClick={() => setIsAsking(true)}>End the access</Button>}
      >
        {open.map((access) => (
          <Access key={access.id} access={access} />
        ))}
        <div>
          Operators can use a recorded terminal.{" "}
          {mayEnd ? "You can end the access at any time." : "Its holder or a project admin can end the access."}{" "}
          <Link to={`/projects/${allocation.project_id}/allocations/${allocation.id}/access`}>Connections</Link>
        </div>
      </Alert>
      {isAsking && <EndDialog allocation={allocation} onClose={() => setIsAsking(false)} />}
    </Box>
  );
}

function Access({ access: { email, reason, created_at, expires_at } }: { access: BreakGlass }) {
  return (
    <div>
      <strong>{email}</strong>, opened <Ago at={created_at} />, until{" "}
      {new Date(expires_at).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" })}. Reason: {reason}
    </div>
  );
}

function EndDialog({ allocation, onClose }: { allocation: Allocation; onClose: () => void }) {
  const end = useEndBreakGlass(allocation.id);
  const confirm = () =>
    end.mutate(undefined, {
      onSuccess: () => {
        notify("success", "The operator's access is ended");
        onClose();
      },
    });
  return (
    <Ask title="End the operator's access?" verb="End the access" asked={end} onConfirm={confirm} onClose={onClose}>
      <Consequences
        lost="Terminals of operators on this allocation are closed."
        stays="The allocation and everybody else's connections. An operator can open access again only with a new reason, which you see here."
      />
    </Ask>
  );
}
