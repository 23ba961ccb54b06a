import Alert from "@cloudscape-design/components/alert";
import Badge from "@cloudscape-design/components/badge";
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import Container from "@cloudscape-design/components/container";
import Header from "@cloudscape-design/components/header";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useNavigate } from "react-router";
import { asProblem } from "../../api/problem";
import {
  type Invitation,
  useAcceptInvitation,
  useInvitations,
  useWithdrawInvitation,
} from "../../api/queries/invitations";
import { type ReachedProject, useReach } from "../../api/queries/members";
import { notify, notifyProblem } from "../../frame/notices";
import { Until } from "../../parts/Ago";
import { Link } from "../../parts/Link";
import { Page } from "../../parts/Page";
import { ProblemAlert } from "../../parts/ProblemAlert";
import { ReachedMachines } from "../../parts/ReachedMachines";
import { ROLES } from "../../parts/roles";
import { View } from "../../parts/View";

/** One page of all that a person can reach, and of who asks them to join. */
export function AccessPage() {
  const navigate = useNavigate();
  const reach = useReach();
  const invitations = useInvitations();
  return (
    <Page
      title="Your access"
      about="All that you can reach: projects, your role in each, and machines that you hold or were given. Invitations to join others wait here for your answer."
    >
      <SpaceBetween size="l">
        {invitations.isError && (
          <ProblemAlert problem={asProblem(invitations.error)} onRetry={() => void invitations.refetch()} />
        )}
        {invitations.data?.map((invitation) => (
          <Invited key={invitation.id} invitation={invitation} />
        ))}
        <View
          of={reach}
          what="projects"
          isEmpty={({ projects }) => projects.length === 0}
          empty={<Box textAlign="center">You are in no project. Ask somebody to invite you.</Box>}
        >
          {({ projects, ssh_key_count }) => (
            <SpaceBetween size="l">
              {ssh_key_count === 0 && (
                <Alert action={<Button onClick={() => void navigate("/account/ssh-keys")}>Add a key</Button>}>
                  You have no SSH key here yet. Machines open to keys, not to passwords.
                </Alert>
              )}
              {projects.map((project) => (
                <Reached key={project.project_id} project={project} />
              ))}
            </SpaceBetween>
          )}
        </View>
      </SpaceBetween>
    </Page>
  );
}

function Invited({
  invitation: { id, project_slug, tenant_slug, role, invited_by_email, expires_at, project_id },
}: {
  invitation: Invitation;
}) {
  const navigate = useNavigate();
  const accept = useAcceptInvitation();
  const decline = useWithdrawInvitation();
  const onError = (error: Error) => notifyProblem(asProblem(error));
  // The answered invitation is gone from the page by then, so that this must not hang on it.
  const joined = () => {
    notify("success", `You are in ${project_slug} now`);
    void navigate(`/projects/${project_id}/allocations`);
  };
  return (
    <Alert
      header={`${invited_by_email} invites you to ${project_slug}`}
      action={
        <SpaceBetween direction="horizontal" size="xs">
          <Button loading={decline.isPending} onClick={() => decline.mutate(id, { onError })}>
            Decline
          </Button>
          <Button
            variant="primary"
            loading={accept.isPending}
            onClick={() => void accept.mutateAsync(id).then(joined, onError)}
          >
            Accept
          </Button>
        </SpaceBetween>
      }
    >
      In the tenant {tenant_slug}, as {role}: {ROLES[role].description.toLowerCase()}. It runs out{" "}
      <Until at={expires_at} />.
    </Alert>
  );
}

function Reached({ project }: { project: ReachedProject }) {
  const { project_id, slug, tenant_slug, role, tenant_role } = project;
  return (
    <Container
      header={
        <Header
          variant="h2"
          description={`Tenant ${tenant_slug}${tenant_role ? `, where you are ${tenant_role}` : ""}`}
          actions={<Link to={`/projects/${project_id}/members`}>Members</Link>}
        >
          <Link to={`/projects/${project_id}/allocations`}>{slug}</Link> {role && <Badge>{ROLES[role].label}</Badge>}
        </Header>
      }
    >
      <ReachedMachines
        reach={project}
        empty={<Box color="text-body-secondary">You hold no machine here, and none was shared with you.</Box>}
      />
    </Container>
  );
}
