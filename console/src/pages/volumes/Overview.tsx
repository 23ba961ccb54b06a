import Box from "@cloudscape-design/components/box";
import Container from "@cloudscape-design/components/container";
import Header from "@cloudscape-design/components/header";
import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import SpaceBetween from "@cloudscape-design/components/space-between";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import Table from "@cloudscape-design/components/table";
import { type StorageBackend, useStorageBackends, type Volume } from "../../api/queries/volumes";
import { Ago } from "../../parts/Ago";
import { Copy } from "../../parts/Copy";
import { Link } from "../../parts/Link";
import { ATTACHMENT, Label, VOLUME } from "../../parts/StatusLabel";
import { DURABILITY, MountedAt, WRITE_POLICY } from "../../parts/VolumeFields";
import { QUOTA, Usage } from "./Usage";

export function Overview({ volume }: { volume: Volume }) {
  return (
    <SpaceBetween size="l">
      <Facts volume={volume} />
      {volume.status !== "deleted" && <Attachments volume={volume} />}
      <Proofs volume={volume} />
    </SpaceBetween>
  );
}

function Facts({ volume }: { volume: Volume }) {
  const backend = useStorageBackends().data?.find((each) => each.backend === volume.backend);
  return (
    <Container header={<Header variant="h2">Volume</Header>}>
      <KeyValuePairs
        columns={3}
        minColumnWidth={260}
        items={[
          {
            label: "Status",
            value: (
              <>
                <Label look={VOLUME[volume.status]} /> <Ago at={volume.status_since} />
              </>
            ),
          },
          { label: "How full", value: <Usage volume={volume} /> },
          { label: "Size limit", value: QUOTA[volume.quota] ?? volume.quota },
          {
            label: "Durability",
            value: `${DURABILITY[volume.durability].word}. It can be attached to ${volume.attaches_to}.`,
          },
          {
            label: "Writers",
            value: `${WRITE_POLICY[volume.write_policy].word}. ${WRITE_POLICY[volume.write_policy].meaning}`,
          },
          { label: "Kept on", value: backend ? <Capabilities backend={backend} /> : volume.backend },
          { label: "Protection", value: volume.protected ? "Protected against deletion" : "Can be deleted" },
          {
            label: "Made",
            value: (
              <>
                <Ago at={volume.created_at} />
                {volume.snapshot_id && " from a snapshot"}
              </>
            ),
          },
          { label: "Id", value: <Copy text={volume.id} what="the volume's id" /> },
        ]}
      />
    </Container>
  );
}

const CAN: Record<string, string> = {
  read_write: "reading and writing",
  read_only: "read-only mounts",
  snapshots: "snapshots",
  multi_writer: "many writers",
  hard_quota: "a hard size limit",
};

/** Many writers are promised only where they were tried. */
function abilities({ capabilities, multi_writer }: StorageBackend): string {
  const offered = capabilities.filter((each) => each !== "multi_writer" || multi_writer);
  return `Offers ${offered.map((each) => CAN[each] ?? each.replaceAll("_", " ")).join(", ")}.`;
}

/** What the storage says it can do, and whether somebody looked. */
function Capabilities({ backend }: { backend: StorageBackend }) {
  const run = backend.conformance;
  return (
    <>
      <div>{backend.title}</div>
      <Box variant="p" color="text-body-secondary">
        {abilities(backend)}
      </Box>
      <Box variant="small">
        {run?.passed === true && run.ended_at && (
          <StatusIndicator>
            Passed its conformance run <Ago at={run.ended_at} />
          </StatusIndicator>
        )}
        {run?.passed === false && (
          <StatusIndicator type="error">Did not pass its conformance run: {run.reason}</StatusIndicator>
        )}
        {!run && <StatusIndicator type="info">Never tried in a conformance run</StatusIndicator>}
      </Box>
    </>
  );
}

function Attachments({ volume }: { volume: Volume }) {
  return (
    <Table
      header={
        <Header variant="h2" counter={`(${volume.attachments.length})`}>
          Attached to
        </Header>
      }
      items={volume.attachments}
      trackBy="id"
      ariaLabels={{ tableLabel: "Machines it is attached to" }}
      columnDefinitions={[
        {
          id: "machine",
          header: "Machine",
          cell: ({ allocation_id, allocation_name }) => (
            <Link to={`/projects/${volume.project_id}/allocations/${allocation_id}/storage`}>{allocation_name}</Link>
          ),
        },
        { id: "at", header: "At", cell: (row) => <MountedAt attachment={row} /> },
        { id: "status", header: "Status", cell: ({ status }) => <Label look={ATTACHMENT[status]} /> },
      ]}
      empty={
        <Box color="text-body-secondary">
          Attached to nothing. Attach it on a machine's Storage tab, or launch one with it.
        </Box>
      }
    />
  );
}

function Proofs({ volume }: { volume: Volume }) {
  if (volume.deletion_proofs.length === 0) return null;
  return (
    <Table
      header={<Header variant="h2">Proof of deletion</Header>}
      items={volume.deletion_proofs}
      trackBy="item"
      ariaLabels={{ tableLabel: "Proof of deletion" }}
      columnDefinitions={[
        { id: "item", header: "Looked for", cell: ({ item }) => item },
        {
          id: "ok",
          header: "Found",
          cell: ({ ok }) => (
            <StatusIndicator type={ok ? "success" : "error"}>{ok ? "Gone" : "Still there"}</StatusIndicator>
          ),
        },
        {
          id: "evidence",
          header: "Evidence",
          cell: ({ evidence }) => <span className="break-anywhere">{evidence}</span>,
        },
      ]}
    />
  );
}
