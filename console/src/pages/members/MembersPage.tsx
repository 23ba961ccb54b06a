import Badge from "@cloudscape-design/components/badge";
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useState } from "react";
import { useParams } from "react-router";
import { type Member, useMembers } from "../../api/queries/members";
import { type Me, useMe } from "../../api/queries/session";
import { may } from "../../frame/permissions";
import { useProject } from "../../frame/project";
import { type Column, DataTable } from "../../parts/DataTable";
import { Link } from "../../parts/Link";
import { Page } from "../../parts/Page";
import { ROLES } from "../../parts/roles";
import { View } from "../../parts/View";
import { ChangeRoleDialog } from "./ChangeRoleDialog";
import { InviteDialog } from "./InviteDialog";
import { RemoveMemberDialog } from "./RemoveMemberDialog";
import { SentInvitations } from "./SentInvitations";

type Doing = { kind: "invite" } | { kind: "role" | "remove"; member: Member } | null;

const FILTERS = [
  { key: "email", propertyLabel: "E-mail", groupValuesLabel: "E-mails" },
  { key: "role", propertyLabel: "Role", groupValuesLabel: "Roles" },
];

export function MembersPage() {
  const { projectId = "" } = useParams();
  const me = useMe().data;
  const project = useProject();
  const members = useMembers(projectId);
  const [doing, setDoing] = useState<Doing>(null);
  const manages = may(project, "members:manage");
  const assignable = project?.assignable_roles ?? [];
  const myself = members.data?.find(({ user_id }) => user_id === me?.user.id);
  const close = () => setDoing(null);
  return (
    <Page
      title="Members"
      about="Members work in this project and see everything in it. Their role says what they may change; admins and owners invite, change roles and remove."
    >
      <SpaceBetween size="l">
        <View of={members} what="members">
          {(rows) => (
            <DataTable
              id="members"
              isLastSticky
              title="Members"
              what="members"
              rows={rows}
              rowId={({ user_id }) => user_id}
              columns={columns({ me, manages, onAct: setDoing })}
              filters={FILTERS}
              sorted={{ by: "email" }}
              empty={<Box textAlign="center">Nobody but who leads the tenant.</Box>}
              actions={
                <SpaceBetween direction="horizontal" size="xs">
                  {myself && <Button onClick={() => setDoing({ kind: "remove", member: myself })}>Leave</Button>}
                  {manages && (
                    <Button variant="primary" onClick={() => setDoing({ kind: "invite" })}>
                      Invite
                    </Button>
                  )}
                </SpaceBetween>
              }
            />
          )}
        </View>
        {may(project, "invitations:read") && <SentInvitations projectId={projectId} />}
      </SpaceBetween>
      {doing?.kind === "invite" && <InviteDialog projectId={projectId} assignable={assignable} onClose={close} />}
      {doing?.kind === "role" && <ChangeRoleDialog member={doing.member} assignable={assignable} onClose={close} />}
      {doing?.kind === "remove" && (
        <RemoveMemberDialog member={doing.member} isMyself={doing.member.user_id === me?.user.id} onClose={close} />
      )}
    </Page>
  );
}

interface Seen {
  me: Me | undefined;
  manages: boolean;
  onAct: (doing: Doing) => void;
}

function columns({ me, manages, onAct }: Seen): Column<Member>[] {
  const mayTouch = (member: Member) => may(member, "members:manage") && member.user_id !== me?.user.id;
  const shown: Column<Member>[] = [
    {
      id: "email",
      header: "Member",
      sortingField: "email",
      cell: (member) => (
        <>
          <Link to={`/projects/${member.project_id}/members/${member.user_id}`}>{member.email || member.user_id}</Link>{" "}
          {member.user_id === me?.user.id && <Badge color="green">You</Badge>}
        </>
      ),
    },
    { id: "role", header: "Role", sortingField: "role", cell: ({ role }) => ROLES[role].label },
    { id: "may", header: "May", cell: ({ role }) => ROLES[role].description },
  ];
  if (!manages) return shown;
  return [
    ...shown,
    {
      id: "actions",
      header: "Actions",
      minWidth: 190,
      cell: (member) =>
        mayTouch(member) && (
          <SpaceBetween direction="horizontal" size="s">
            <Button
              variant="inline-link"
              ariaLabel={`Change role of ${member.email}`}
              onClick={() => onAct({ kind: "role", member })}
            >
              Change role
            </Button>
            <Button
              variant="inline-link"
              ariaLabel={`Remove ${member.email}`}
              onClick={() => onAct({ kind: "remove", member })}
            >
              Remove
            </Button>
          </SpaceBetween>
        ),
    },
  ];
}
