import Alert from "@cloudscape-design/components/alert";
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useLocation, useNavigate } from "react-router";
import { asProblem } from "../../api/problem";
import { useAcceptInvitation } from "../../api/queries/invitations";
import { notify } from "../../frame/notices";
import { Page } from "../../parts/Page";
import { ProblemAlert } from "../../parts/ProblemAlert";

/** The secret is in the fragment, which browsers do not send to servers. */
export function AcceptPage() {
  const secret = useLocation().hash.slice(1);
  const navigate = useNavigate();
  const accept = useAcceptInvitation();
  const join = () =>
    void accept.mutateAsync(secret).then(
      ({ project_id, project_slug }) => {
        notify("success", `You are in ${project_slug} now`);
        void navigate(`/projects/${project_id}/allocations`, { replace: true });
      },
      () => undefined,
    );
  return (
    <Page title="Join a project" about="An invitation link makes you a member of a project.">
      {secret ? (
        <SpaceBetween size="m">
          {accept.isError && <ProblemAlert problem={asProblem(accept.error)} />}
          <Box>You were invited to a project. Its members will see your e-mail address.</Box>
          <Button variant="primary" loading={accept.isPending} onClick={join}>
            Join the project
          </Button>
        </SpaceBetween>
      ) : (
        <Alert type="warning">This link is incomplete. Copy the whole link, or ask for a new one.</Alert>
      )}
    </Page>
  );
}
