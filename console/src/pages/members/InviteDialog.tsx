import FormField from "@cloudscape-design/components/form-field";
import Input from "@cloudscape-design/components/input";
import { useState } from "react";
import { useInvite } from "../../api/queries/invitations";
import type { Role } from "../../api/queries/members";
import { notify } from "../../frame/notices";
import { Dialog } from "../../parts/Dialog";
import { RoleField } from "./RoleField";

interface Props {
  projectId: string;
  isOwner: boolean;
  onClose: () => void;
}

export function InviteDialog({ projectId, isOwner, onClose }: Props) {
  const [email, setEmail] = useState("");
  const [role, setRole] = useState<Role>("member");
  const invite = useInvite(projectId);
  const submit = () =>
    invite.mutate(
      { email: email.trim(), role },
      {
        onSuccess: () => {
          notify("success", `${email.trim()} is invited`, "They see it here once they are signed in by that address.");
          onClose();
        },
      },
    );
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
        <FormField
          label="E-mail"
          description="No mail is sent: they see the invitation in the console when they sign in or sign up with this address."
          stretch
        >
          <Input value={email} onChange={({ detail }) => setEmail(detail.value)} type="email" autoFocus />
        </FormField>
      </form>
      <RoleField role={role} onChange={setRole} isOwner={isOwner} />
    </Dialog>
  );
}
