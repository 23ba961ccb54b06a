import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import { useState } from "react";
import { type OwnKeyFile, useProjectOwnKeys, useRefuseOwnKeys } from "../../api/queries/access";
import { Ago } from "../../parts/Ago";
import { Ask } from "../../parts/Ask";
import { type Column, DataTable } from "../../parts/DataTable";
import { Link } from "../../parts/Link";
import { Label, OBSERVED } from "../../parts/StatusLabel";
import { View } from "../../parts/View";
import { Fingerprint } from "../allocations/access/KeysCard";

interface Props {
  projectId: string;
  /** Whether this person controls an allocation. */
  decides: (allocationId: string) => boolean;
}

/** The allocations that admit keys of their own authorized_keys file. */
export function OwnKeyFiles({ projectId, decides }: Props) {
  const files = useProjectOwnKeys(projectId);
  const [refusing, setRefusing] = useState<OwnKeyFile | null>(null);
  return (
    <View of={files} what="own key files">
      {(rows) => (
        <>
          <DataTable
            id="project-own-keys"
            isLastSticky
            isPlain
            title="Own key files"
            what="own key files"
            description="These allocations also admit keys of ~/.ssh/authorized_keys. The platform does not know whose keys they are, and revoking a grant does not remove them."
            rows={rows}
            rowId={({ allocation_id }) => allocation_id}
            columns={columnsFor(decides, setRefusing)}
            empty={
              <Box textAlign="center" padding="s">
                Every allocation admits only keys that the platform installed. An allocation appears here when its
                holder allows its own key file.
              </Box>
            }
          />
          {refusing && <RefuseDialog file={refusing} onDone={() => setRefusing(null)} />}
        </>
      )}
    </View>
  );
}

function RefuseDialog({ file, onDone }: { file: OwnKeyFile; onDone: () => void }) {
  const refuse = useRefuseOwnKeys(file.allocation_id);
  return (
    <Ask
      title={`Stop admitting the own key file of ${file.allocation_name}?`}
      verb="Stop admitting"
      onConfirm={() => refuse.mutate(undefined, { onSuccess: onDone })}
      onClose={onDone}
      asked={refuse}
    >
      <div>
        <strong>Ends:</strong> logins with keys of this file, and their open connections.
      </div>
      <div>
        <strong>Stays:</strong> the allocation and its programs, the file itself, the holder's keys and all grants.
      </div>
    </Ask>
  );
}

function columnsFor(
  decides: (allocationId: string) => boolean,
  onRefuse: (file: OwnKeyFile) => void,
): readonly Column<OwnKeyFile>[] {
  return [
    {
      id: "allocation",
      header: "Allocation",
      sortingField: "allocation_name",
      cell: ({ project_id, allocation_id, allocation_name }) => (
        <Link to={`/projects/${project_id}/allocations/${allocation_id}/access`}>{allocation_name}</Link>
      ),
    },
    {
      id: "by",
      header: "Allowed by",
      sortingField: "allowed_by_email",
      cell: ({ allowed_by, allowed_by_email }) => allowed_by_email || allowed_by,
    },
    {
      id: "since",
      header: "Since",
      sortingField: "allowed_at",
      cell: ({ allowed_at }) => (allowed_at ? <Ago at={allowed_at} /> : "Unknown"),
    },
    {
      id: "status",
      header: "Status",
      cell: ({ installed }) => <Label look={OBSERVED[installed ? "admitted" : "pending"]} />,
    },
    { id: "keys", header: "Keys found", cell: (file) => <Found file={file} /> },
    {
      id: "actions",
      header: "Actions",
      minWidth: 150,
      cell: (file) =>
        decides(file.allocation_id) && (
          <Button
            variant="inline-link"
            ariaLabel={`Stop admitting: ${file.allocation_name}`}
            onClick={() => onRefuse(file)}
          >
            Stop admitting
          </Button>
        ),
    },
  ];
}

function Found({ file: { fingerprints, refused_fingerprints, observed_at } }: { file: OwnKeyFile }) {
  if (observed_at === null) return "Not reported yet";
  if (fingerprints.length === 0) return "None";
  return fingerprints.map((one) => (
    <div key={one}>
      <Fingerprint of={one} />
      {refused_fingerprints.includes(one) && " (refused: its owner has no access)"}
    </div>
  ));
}
