import { useParams } from "react-router";
import { useMembers } from "../../api/queries/members";
import { Page } from "../../parts/Page";
import { useNames } from "./ActivityPage";
import { AuditLog } from "./AuditLog";
import { targetOf } from "./words";

export function AuditPage() {
  const { projectId = "" } = useParams();
  const members = useMembers(projectId).data ?? [];
  const nameOf = useNames(projectId);
  return (
    <Page
      title="Audit log"
      about="Who did what in this project, or was refused. A row is written together with each change and never altered. The correlation id finds the same request in the server's log."
    >
      <AuditLog
        log={{ of: "project", id: projectId }}
        people={members.map(({ user_id, email }) => ({ id: user_id, email }))}
        targetOf={(row) => targetOf(row, projectId, nameOf)}
      />
    </Page>
  );
}
