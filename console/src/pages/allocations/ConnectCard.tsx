import Box from "@cloudscape-design/components/box";
import Container from "@cloudscape-design/components/container";
import Header from "@cloudscape-design/components/header";
import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import SpaceBetween from "@cloudscape-design/components/space-between";
import type { Allocation } from "../../api/queries/allocations";
import { useOperation } from "../../api/queries/operations";
import type { components } from "../../api/schema";
import { Copy, CopyLine } from "../../parts/Copy";
import { Link } from "../../parts/Link";
import { PhaseBars } from "../../parts/PhaseBars";
import { View } from "../../parts/View";
import { isEnded } from "./verbs";

type Connection = components["schemas"]["SshConnection"];

/** How to get in; until one can, how far it is. */
export function ConnectCard({ allocation }: { allocation: Allocation }) {
  const { connection, status, operation_id } = allocation;
  const isWaiting = status === "requested" || status === "provisioning" || status === "restarting";
  return (
    <Container header={<Header description={describe(allocation)}>{isWaiting ? "Getting ready" : "Connect"}</Header>}>
      <SpaceBetween size="m">
        {isWaiting && operation_id && <Progress operationId={operation_id} allocationId={allocation.id} />}
        {connection && !isEnded(allocation) && <Ways connection={connection} />}
        {isEnded(allocation) && <Link to={`/projects/${allocation.project_id}/launch`}>Launch another machine</Link>}
      </SpaceBetween>
    </Container>
  );
}

function describe({ status, connection }: Allocation): string {
  switch (status) {
    case "requested":
    case "provisioning":
      return "The SSH command appears here when the machine admits you, most often within a second.";
    case "restarting":
      return "It comes back at the same address, with the same keys.";
    case "active":
      return "With any of the keys on the SSH access tab.";
    case "restart_failed":
      return "It does not run now; the address stays its own.";
    default:
      return connection ? "The address is closed: nobody can get in any more." : "It never admitted anybody.";
  }
}

function Progress({ operationId, allocationId }: { operationId: string; allocationId: string }) {
  return (
    <View of={useOperation(operationId, allocationId)} what="phases">
      {(operation) => <PhaseBars operation={operation} />}
    </View>
  );
}

function Ways({ connection }: { connection: Connection }) {
  const { host, port, username, command, known_hosts, host_key } = connection;
  return (
    <SpaceBetween size="m">
      <CopyLine label="SSH command" what="the SSH command" text={command} />
      <CopyLine
        label="Line for ~/.ssh/known_hosts"
        note="Added once, ssh proves that it is this machine and asks nothing."
        what="the known_hosts line"
        text={known_hosts}
      />
      <CopyLine label="Plain ssh" what="the plain ssh command" text={`ssh -p ${port} ${username}@${host}`} />
      <KeyValuePairs
        columns={4}
        minColumnWidth={110}
        items={[
          { label: "Host", value: <Copy text={host} what="the host" /> },
          { label: "Port", value: <Copy text={`${port}`} what="the port" /> },
          { label: "User", value: <Copy text={username} what="the user name" /> },
          { label: "Host key", value: host_key.split(" ")[0] ?? "" },
        ]}
      />
      {host.startsWith("127.") && (
        <Box variant="small" color="text-body-secondary">
          This address is of the server itself: the commands work in a shell on that machine.
        </Box>
      )}
    </SpaceBetween>
  );
}
