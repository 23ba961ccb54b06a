import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import { asProblem } from "../../api/problem";
import { type Invitation, useSentInvitations, useWithdrawInvitation } from "../../api/queries/invitations";
import { notifyProblem } from "../../frame/notices";
import { Until } from "../../parts/Ago";
import { type Column, DataTable } from "../../parts/DataTable";
import { ROLES } from "../../parts/roles";
import { View } from "../../parts/View";

const FILTERS = [{ key: "email", propertyLabel: "E-mail", groupValuesLabel: "E-mails" }];

/** Those that nobody has answered yet. */
export function SentInvitations({ projectId }: { projectId: string }) {
  const sent = useSentInvitations(projectId, true);
  const withdraw = useWithdrawInvitation();
  const columns: Column<Invitation>[] = [
    { id: "email", header: "Invited", sortingField: "email", cell: ({ email }) => email },
    { id: "role", header: "As", sortingField: "role", cell: ({ role }) => ROLES[role].label },
    { id: "by", header: "By", sortingField: "invited_by_email", cell: ({ invited_by_email }) => invited_by_email },
    {
      id: "until",
      header: "Runs out",
      sortingField: "expires_at",
      cell: ({ expires_at }) => <Until at={expires_at} />,
    },
    {
      id: "valid",
      header: "Link",
      sortingField: "is_valid",
      cell: ({ is_valid }) => (is_valid ? "Valid" : "Invalid: invite again"),
    },
    {
      id: "actions",
      header: "Actions",
      cell: ({ id, email }) => (
        <Button
          variant="inline-link"
          ariaLabel={`Withdraw the invitation of ${email}`}
          onClick={() => withdraw.mutate(id, { onError: (error) => notifyProblem(asProblem(error)) })}
        >
          Withdraw
        </Button>
      ),
    },
  ];
  return (
    <View of={sent} what="invitations">
      {(rows) => (
        <DataTable
          id="invitations"
          isLastSticky
          title="Invitations"
          what="invitations"
          rows={rows}
          rowId={({ id }) => id}
          columns={columns}
          filters={FILTERS}
          empty={<Box textAlign="center">There are no open invitations.</Box>}
        />
      )}
    </View>
  );
}
