import Alert from "@cloudscape-design/components/alert";
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import FormField from "@cloudscape-design/components/form-field";
import Input from "@cloudscape-design/components/input";
import Modal from "@cloudscape-design/components/modal";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useState } from "react";
import { useInvite } from "../../api/queries/invitations";
import type { Role } from "../../api/queries/members";
import { CopyLine } from "../../parts/Copy";
import { Dialog } from "../../parts/Dialog";
import { RoleField } from "./RoleField";

interface Props {
  projectId: string;
  assignable: readonly Role[];
  onClose: () => void;
}

export function InviteDialog({ projectId, assignable, onClose }: Props) {
  const [email, setEmail] = useState("");
  const [role, setRole] = useState<Role>("member");
  const [link, setLink] = useState<string | null>(null);
  const invite = useInvite(projectId);
  const submit = () =>
    invite.mutate(
      { email: email.trim(), role },
      {
        onSuccess: ({ link }) => setLink(link),
      },
    );
  if (link !== null) return <InvitationLink email={email.trim()} link={link} onClose={onClose} />;
  const isReady = /^\S+@\S+$/.test(email.trim());
  return (
    <Dialog
      title="Invite somebody"
      confirm="Invite"
      onConfirm={submit}
      onCancel={onClose}
      isPending={invite.isPending}
      isReady={isReady}
      error={invite.error}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (isReady) submit();
        }}
      >
        <FormField label="E-mail" description="No mail is sent. You get a link to pass on to them." stretch>
          <Input value={email} onChange={({ detail }) => setEmail(detail.value)} type="email" autoFocus />
        </FormField>
      </form>
      <RoleField role={role} onChange={setRole} assignable={assignable} />
    </Dialog>
  );
}

/** The server keeps only a hash of the secret: a lost link is replaced by inviting again. */
function InvitationLink({ email, link, onClose }: { email: string; link: string; onClose: () => void }) {
  return (
    <Modal
      visible
      header={`Invitation for ${email}`}
      closeAriaLabel="Close"
      onDismiss={({ detail }) => detail.reason !== "overlay" && onClose()}
      footer={
        <Box float="right">
          <Button variant="primary" onClick={onClose}>
            I have copied it
          </Button>
        </Box>
      }
    >
      <SpaceBetween size="m">
        <Alert type="warning">
          Pass this link on to {email} only: anyone who has it can join. It is shown once; to get a new one, invite them
          again.
        </Alert>
        <CopyLine label="Invitation link" what="the link" text={link} />
      </SpaceBetween>
    </Modal>
  );
}
