import Box from "@cloudscape-design/components/box";
import Link from "@cloudscape-design/components/link";
import Modal from "@cloudscape-design/components/modal";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { PersonalForm } from "../pages/login/PersonalForm";

/** Over the page, which stays as it is: what was typed there is still there afterwards. */
export function SignInAgain({ email }: { email: string }) {
  const leave = () => window.location.assign(`/login?next=${encodeURIComponent(window.location.pathname)}`);
  return (
    <Modal visible header="Your session has ended" size="small" disableContentPaddings={false}>
      <SpaceBetween size="m">
        <Box>Sign in again to go on. Everything on this page, also what you typed, stays as it is.</Box>
        <PersonalForm
          knownEmail={email}
          footer={
            <Box textAlign="center">
              <Link onFollow={leave}>Sign in as somebody else</Link>
            </Box>
          }
        />
      </SpaceBetween>
    </Modal>
  );
}
