import Alert from "@cloudscape-design/components/alert";
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import Cards from "@cloudscape-design/components/cards";
import Header from "@cloudscape-design/components/header";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useState } from "react";
import type { Allocation } from "../../api/queries/allocations";
import { type Attachment, useAttachments } from "../../api/queries/attachments";
import { may } from "../../frame/permissions";
import { Ago } from "../../parts/Ago";
import { Link } from "../../parts/Link";
import { ATTACHMENT, Label } from "../../parts/StatusLabel";
import { View } from "../../parts/View";
import { DURABILITY, MountedAt } from "../../parts/VolumeFields";
import { sentence } from "../../parts/words";
import { AttachDialog } from "./AttachDialog";
import { DetachDialog } from "./DetachDialog";
import { NOT_YOURS } from "./verbs";

type Open = { what: "attach" } | { what: "detach"; attachment: Attachment } | null;

const OVER = ["released", "failed", "releasing", "release_failed"];

export function StorageTab({ allocation }: { allocation: Allocation }) {
  const [open, setOpen] = useState<Open>(null);
  const isOver = OVER.includes(allocation.status);
  return (
    <SpaceBetween size="l">
      <OwnDisk isOver={isOver} />
      <View of={useAttachments(allocation.id)} what="volumes">
        {(attachments) => {
          const shown = attachments.filter(({ status }) => isOver || status !== "detached");
          return (
            <SpaceBetween size="l">
              {shown
                .filter(({ status }) => status === "detach_failed")
                .map((each) => (
                  <Busy key={each.id} attachment={each} onForce={() => setOpen({ what: "detach", attachment: each })} />
                ))}
              <Attached allocation={allocation} attachments={shown} isOver={isOver} onOpen={setOpen} />
              {open?.what === "attach" && (
                <AttachDialog allocation={allocation} attachments={attachments} onClose={() => setOpen(null)} />
              )}
            </SpaceBetween>
          );
        }}
      </View>
      {open?.what === "detach" && (
        <DetachDialog allocation={allocation} attachment={open.attachment} onClose={() => setOpen(null)} />
      )}
    </SpaceBetween>
  );
}

function OwnDisk({ isOver }: { isOver: boolean }) {
  if (isOver)
    return (
      <Alert>
        Its own disk went with it. Volumes that were attached are kept, with all their data, until they are deleted.
      </Alert>
    );
  return (
    <Alert header="Its own disk does not last">
      The home folder and everything else on it survive a restart, and are erased at release. What is to last belongs on
      a volume below.
    </Alert>
  );
}

/** A volume in use stays attached; who uses it is named, and there are two ways on. */
function Busy({ attachment, onForce }: { attachment: Attachment; onForce: () => void }) {
  return (
    <Alert
      type="warning"
      header={`${attachment.volume_name} is in use and stays attached`}
      action={<Button onClick={onForce}>Detach it</Button>}
    >
      {sentence(attachment.status_reason)} End what uses it and detach again, or detach by force.
    </Alert>
  );
}

interface AttachedProps {
  allocation: Allocation;
  attachments: Attachment[];
  isOver: boolean;
  onOpen: (open: Open) => void;
}

function Attached({ allocation, attachments, isOver, onOpen }: AttachedProps) {
  const mayAttach = may(allocation, "allocations:operate");
  const attach = (
    <Button
      variant="primary"
      disabled={isOver || !mayAttach}
      disabledReason={mayAttach ? "This machine is over or on its way out." : NOT_YOURS}
      onClick={() => onOpen({ what: "attach" })}
    >
      Attach a volume
    </Button>
  );
  return (
    <div>
      <Box padding={{ bottom: "s" }}>
        <Header
          variant="h2"
          counter={`(${attachments.length})`}
          description="They come back by themselves after every restart."
          actions={attach}
        >
          Volumes
        </Header>
      </Box>
      <Cards<Attachment>
        items={attachments}
        trackBy="id"
        cardsPerRow={[{ cards: 1 }, { minWidth: 560, cards: 2 }, { minWidth: 1100, cards: 3 }]}
        ariaLabels={{ itemSelectionLabel: (_, row) => row.volume_name, selectionGroupLabel: "Volumes of this machine" }}
        cardDefinition={{
          header: ({ volume_id, volume_name }) => (
            <Link to={`/projects/${allocation.project_id}/volumes/${volume_id}`}>{volume_name}</Link>
          ),
          sections: [
            { id: "at", header: "Mounted at", content: (row) => <MountedAt attachment={row} /> },
            { id: "status", content: (row) => <Status attachment={row} /> },
            { id: "durability", content: ({ durability }) => DURABILITY[durability].meaning },
            { id: "actions", content: (row) => !isOver && mayAttach && <Detach attachment={row} onOpen={onOpen} /> },
          ],
        }}
        empty={
          <Box textAlign="center" padding="s" color="text-body-secondary">
            {isOver
              ? "None were attached when it ended."
              : "No volume. Attach one while it runs; no restart is needed."}
          </Box>
        }
      />
    </div>
  );
}

function Status({ attachment: { status, status_since, status_reason, observed_at } }: { attachment: Attachment }) {
  return (
    <>
      <div>
        <Label look={ATTACHMENT[status]} />
      </div>
      <Box variant="small" color="text-body-secondary">
        {status === "attached" && observed_at ? (
          <>
            seen there <Ago at={observed_at} />
          </>
        ) : (
          <>
            since <Ago at={status_since} />
          </>
        )}
        {status === "failed" && `. ${sentence(status_reason)}`}
      </Box>
    </>
  );
}

function Detach({ attachment, onOpen }: { attachment: Attachment; onOpen: (open: Open) => void }) {
  if (["detaching", "detached", "failed"].includes(attachment.status)) return null;
  return (
    <Button ariaLabel={`Detach ${attachment.volume_name}`} onClick={() => onOpen({ what: "detach", attachment })}>
      Detach
    </Button>
  );
}
