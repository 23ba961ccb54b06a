import Box from "@cloudscape-design/components/box";
import { useNavigate } from "react-router";
import { type Member, type ReachedProject, useMember, useRemoveMember } from "../../api/queries/members";
import { notify } from "../../frame/notices";
import { Consequences } from "../../parts/Consequences";
import { Dialog } from "../../parts/Dialog";
import { View } from "../../parts/View";

interface Props {
  member: Member;
  isMyself: boolean;
  onClose: () => void;
}

/** Says by name which machines close to them. */
export function RemoveMemberDialog({ member, isMyself, onClose }: Props) {
  const navigate = useNavigate();
  const remove = useRemoveMember(member.project_id);
  const reached = useMember(member.project_id, member.user_id);
  const done = () => {
    onClose();
    notify("success", isMyself ? "You have left the project" : `${member.email} is removed`);
    if (isMyself) void navigate("/account/access");
  };
  return (
    <Dialog
      title={isMyself ? "Leave the project?" : `Remove ${member.email}?`}
      confirm={isMyself ? "Leave" : "Remove"}
      onConfirm={() => remove.mutate(member.user_id, { onSuccess: done })}
      onCancel={onClose}
      isPending={remove.isPending}
      error={remove.error}
    >
      <View of={reached} what="what they can reach">
        {(reach) => (
          <Consequences
            lost={<Lost reach={reach} whose={isMyself ? "your" : "their"} />}
            stays={
              isMyself
                ? "The machines you started; admins of the project hold them. Your account, your keys, your other projects."
                : "The machines they started and all that runs there; admins of the project hold those. Their account and other projects."
            }
          />
        )}
      </View>
    </Dialog>
  );
}

function Lost({ reach, whose }: { reach: ReachedProject; whose: string }) {
  if (reach.machines.length === 0) return <Box>Sight of the project. No machine was open to {whose} keys.</Box>;
  return (
    <Box>
      Sight of the project, and {whose} way into{" "}
      {reach.machines.map(({ allocation_id, name }, index) => (
        <span key={allocation_id}>
          {index > 0 && ", "}
          <strong>{name}</strong>
        </span>
      ))}
      . Open sessions there are cut at once.
    </Box>
  );
}
