import { useState } from "react";
import { type Member, useChangeMember } from "../../api/queries/members";
import { Consequences } from "../../parts/Consequences";
import { Dialog } from "../../parts/Dialog";
import { RoleField } from "./RoleField";

interface Props {
  member: Member;
  isOwner: boolean;
  onClose: () => void;
}

export function ChangeRoleDialog({ member, isOwner, onClose }: Props) {
  const [role, setRole] = useState(member.role);
  const change = useChangeMember(member.project_id);
  return (
    <Dialog
      title={`Role of ${member.email}`}
      confirm="Change"
      onConfirm={() => change.mutate({ userId: member.user_id, role }, { onSuccess: onClose })}
      onCancel={onClose}
      isPending={change.isPending}
      isReady={role !== member.role}
      error={change.error}
    >
      <RoleField role={role} onChange={setRole} isOwner={isOwner} />
      {role === "viewer" && role !== member.role && (
        <Consequences
          lost="Every way of theirs into the project's machines: grants and keys. Open sessions are cut at once."
          stays="The machines and all that runs there; admins of the project hold those they held."
        />
      )}
    </Dialog>
  );
}
