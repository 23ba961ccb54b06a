import Box from "@cloudscape-design/components/box";
import Container from "@cloudscape-design/components/container";
import Header from "@cloudscape-design/components/header";
import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useParams } from "react-router";
import { useMember, useMembers } from "../../api/queries/members";
import { Copy } from "../../parts/Copy";
import { Page } from "../../parts/Page";
import { ReachedMachines } from "../../parts/ReachedMachines";
import { ROLES } from "../../parts/roles";
import { View } from "../../parts/View";

/** What one member can reach in the project. */
export function MemberPage() {
  const { projectId = "", userId = "" } = useParams();
  const member = useMembers(projectId).data?.find(({ user_id }) => user_id === userId);
  return (
    <Page
      title={member?.email ?? "Member"}
      about="What this person can reach in the project: machines they hold, and machines that were shared with them."
      crumbs={[{ text: "Members", href: `/projects/${projectId}/members` }]}
    >
      <View of={useMember(projectId, userId)} what="what they can reach">
        {(reach) => (
          <SpaceBetween size="l">
            <Container header={<Header variant="h2">Role</Header>}>
              <KeyValuePairs
                columns={3}
                items={[
                  { label: "In the project", value: reach.role ? ROLES[reach.role].label : "None" },
                  { label: "In the tenant", value: reach.tenant_role ? ROLES[reach.tenant_role].label : "None" },
                  { label: "User id", value: <Copy text={userId} what="user id" /> },
                ]}
              />
            </Container>
            <Container header={<Header counter={`(${reach.machines.length})`}>Machines they can enter</Header>}>
              <ReachedMachines
                reach={reach}
                empty={<Box color="text-body-secondary">They hold no machine here, and none was shared with them.</Box>}
              />
            </Container>
          </SpaceBetween>
        )}
      </View>
    </Page>
  );
}
