import Alert from "@cloudscape-design/components/alert";
import Checkbox from "@cloudscape-design/components/checkbox";
import { useState } from "react";
import type { Allocation } from "../../api/queries/allocations";
import { type Attachment, useDetachVolume } from "../../api/queries/attachments";
import { Consequences } from "../../parts/Consequences";
import { Dialog } from "../../parts/Dialog";
import { sentence } from "../../parts/words";

interface Props {
  allocation: Allocation;
  attachment: Attachment;
  onClose: () => void;
}

export function DetachDialog({ allocation, attachment, onClose }: Props) {
  const wasBusy = attachment.status === "detach_failed";
  const [force, setForce] = useState(false);
  const detach = useDetachVolume(allocation);
  const { id, volume_id, volume_name, mount_path } = attachment;
  return (
    <Dialog
      title={`Detach ${volume_name} from ${allocation.name}?`}
      confirm={force ? "Detach by force" : "Detach"}
      isPending={detach.isPending}
      error={detach.error}
      onConfirm={() => detach.mutate({ id, volume_id, force }, { onSuccess: onClose })}
      onCancel={onClose}
    >
      {wasBusy && (
        <Alert type="warning" header="In use at the last try">
          {sentence(attachment.status_reason)}
        </Alert>
      )}
      <Consequences
        lost={
          <>
            <code>{mount_path}</code> inside the machine; programs that use it then fail.
          </>
        }
        stays="The volume and all its data. It can be attached again, here or elsewhere."
      />
      <Checkbox
        checked={force}
        onChange={({ detail }) => setForce(detail.checked)}
        description="What they have not written yet is lost. Without this, a volume in use stays attached and says by what."
      >
        End the processes that use it
      </Checkbox>
    </Dialog>
  );
}
