import Alert from "@cloudscape-design/components/alert";
import Badge from "@cloudscape-design/components/badge";
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import Container from "@cloudscape-design/components/container";
import Header from "@cloudscape-design/components/header";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useNavigate } from "react-router";
import { type ReachedProject, useReach } from "../../api/queries/members";
import { Link } from "../../parts/Link";
import { Page } from "../../parts/Page";
import { ReachedMachines } from "../../parts/ReachedMachines";
import { ROLES } from "../../parts/roles";
import { View } from "../../parts/View";

/** One page of all that a person can reach. */
export function AccessPage() {
  const navigate = useNavigate();
  const reach = useReach();
  return (
    <Page
      title="Your access"
      about="All that you can reach: projects, your role in each, and machines that you hold or were given. To join another project, open the invitation link that you were given."
    >
      <SpaceBetween size="l">
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
