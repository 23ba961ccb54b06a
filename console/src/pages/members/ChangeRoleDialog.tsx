import { useState } from "react";
import { type Member, type Role, useChangeMember } from "../../api/queries/members";
import { Consequences } from "../../parts/Consequences";
import { Dialog } from "../../parts/Dialog";
import { ROLES } from "../../parts/roles";
import { RoleField } from "./RoleField";

interface Props {
  member: Member;
  assignable: readonly Role[];
  onClose: () => void;
}

export function ChangeRoleDialog({ member, assignable, onClose }: Props) {
  const [role, setRole] = useState(member.role);
  const change = useChangeMember(member.project_id);
  const isChanged = role !== member.role; // house: role because it compares a choice with what is, and allows nothing
  const { becoming } = ROLES[role];
  return (
    <Dialog
      title={`Role of ${member.email}`}
      confirm="Change"
      onConfirm={() => change.mutate({ userId: member.user_id, role }, { onSuccess: onClose })}
      onCancel={onClose}
      isPending={change.isPending}
      isReady={isChanged}
      error={change.error}
    >
      <RoleField role={role} onChange={setRole} assignable={assignable} />
      {isChanged && becoming && <Consequences {...becoming} />}
    </Dialog>
  );
}
