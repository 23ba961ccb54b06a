import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import { useState } from "react";
import { type AccessGrant, useProjectGrants } from "../../api/queries/access";
import { Ago, Until } from "../../parts/Ago";
import { type Column, DataTable } from "../../parts/DataTable";
import { Link } from "../../parts/Link";
import { GRANT, Label, OBSERVED } from "../../parts/StatusLabel";
import { View } from "../../parts/View";
import { RevokeDialog } from "../allocations/access/GrantDialogs";
import { Fingerprint } from "../allocations/access/KeysCard";

interface Props {
  projectId: string;
  myId: string;
  /** Whether this person controls an allocation. */
  decides: (allocationId: string) => boolean;
}

const FILTERS = [
  { key: "email", propertyLabel: "Person", groupValuesLabel: "People" },
  { key: "allocation_name", propertyLabel: "Allocation", groupValuesLabel: "Allocations" },
];

/** Every live grant of the project, with what the node confirmed. */
export function LiveGrants({ projectId, myId, decides }: Props) {
  const grants = useProjectGrants(projectId);
  const [revoking, setRevoking] = useState<AccessGrant | null>(null);
  const verb = (grant: AccessGrant) => {
    if (grant.user_id === myId) return grant.status === "asked" ? "Withdraw" : "Give up";
    if (!decides(grant.allocation_id)) return "";
    return grant.status === "asked" ? "Refuse" : "Revoke";
  };
  return (
    <View of={grants} what="grants">
      {(rows) => (
        <>
          <DataTable
            id="project-grants"
            isLastSticky
            title="Access grants"
            what="grants"
            rows={rows}
            rowId={({ id }) => id}
            columns={columnsFor(myId, verb, setRevoking)}
            filters={FILTERS}
            sorted={{ by: "email" }}
            empty={
              <Box textAlign="center" padding="s">
                No allocation is shared. Grants appear here when a holder shares an allocation with a member, or a
                member asks for access.
              </Box>
            }
          />
          {revoking && (
            <RevokeDialog
              allocation={{ id: revoking.allocation_id, name: revoking.allocation_name }}
              grant={revoking}
              myId={myId}
              onDone={() => setRevoking(null)}
            />
          )}
        </>
      )}
    </View>
  );
}

function columnsFor(
  myId: string,
  verb: (grant: AccessGrant) => string,
  onRevoke: (grant: AccessGrant) => void,
): readonly Column<AccessGrant>[] {
  return [
    {
      id: "email",
      header: "Person",
      sortingField: "email",
      cell: ({ user_id, email, allocation_name }) => (
        <>
          {user_id === myId ? "You" : email || user_id}
          <div className="narrow-only">{allocation_name}</div>
        </>
      ),
    },
    {
      id: "allocation",
      header: "Allocation",
      sortingField: "allocation_name",
      cell: ({ project_id, allocation_id, allocation_name }) => (
        <Link to={`/projects/${project_id}/allocations/${allocation_id}/access`}>{allocation_name}</Link>
      ),
    },
    { id: "status", header: "Status", sortingField: "status", cell: (grant) => <Label look={lookOf(grant)} /> },
    {
      id: "until",
      header: "Until",
      sortingField: "expires_at",
      cell: ({ expires_at }) => (expires_at ? <Until at={expires_at} /> : "No end"),
    },
    { id: "since", header: "Since", sortingField: "status_since", cell: (grant) => <Ago at={grant.status_since} /> },
    {
      id: "key",
      header: "Key",
      isHidden: true,
      cell: ({ key_fingerprint }) => (key_fingerprint ? <Fingerprint of={key_fingerprint} /> : "None yet"),
    },
    {
      id: "actions",
      header: "Actions",
      minWidth: 110,
      cell: (grant) =>
        verb(grant) && (
          <Button
            variant="inline-link"
            ariaLabel={`${verb(grant)}: ${grant.email}, ${grant.allocation_name}`}
            onClick={() => onRevoke(grant)}
          >
            {verb(grant)}
          </Button>
        ),
    },
  ];
}

function lookOf({ status, installed }: AccessGrant) {
  return status === "active" ? OBSERVED[installed ? "admitted" : "pending"] : GRANT[status];
}
