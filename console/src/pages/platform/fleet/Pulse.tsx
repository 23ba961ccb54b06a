import Box from "@cloudscape-design/components/box";
import Container from "@cloudscape-design/components/container";
import Header from "@cloudscape-design/components/header";
import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import Table from "@cloudscape-design/components/table";
import type { Overview } from "../../../api/queries/overview";
import { Ago, duration, shortDuration } from "../../../parts/Ago";
import { Link } from "../../../parts/Link";

/** Upper bounds of histogram buckets: true to a bucket, and said so. */
function within(seconds: number | null): string {
  return seconds === null ? "none yet" : `within ${shortDuration(seconds)}`;
}

export function Operations({ overview: { operations, allocations } }: { overview: Overview }) {
  const { running, oldest_running_seconds: oldest, ended_last_hour: ended, failed_last_hour: failed } = operations;
  return (
    <Container header={<Header variant="h2">Operations</Header>}>
      <KeyValuePairs
        columns={2}
        items={[
          {
            label: "Running",
            value: oldest === null ? `${running}` : `${running}, the oldest for ${duration(oldest)}`,
          },
          { label: "Ended in the last hour", value: ended },
          { label: "Of those, failed", value: <Count of={failed} look="warning" /> },
          { label: "Machines by status", value: counted(allocations) },
          { label: "Stuck or on their way", value: <Link to="/platform/operations">See them</Link> },
        ]}
      />
    </Container>
  );
}

export function Requests({ overview: { requests, links, replicas } }: { overview: Overview }) {
  return (
    <Container
      header={
        <Header variant="h2" description="Of the replica that answered, since it started">
          Requests and links
        </Header>
      }
    >
      <KeyValuePairs
        columns={3}
        items={[
          { label: "Half answered", value: within(requests.p50_seconds) },
          { label: "95 of 100", value: within(requests.p95_seconds) },
          { label: "99 of 100", value: within(requests.p99_seconds) },
          { label: "Answered", value: requests.total.toLocaleString() },
          { label: "Refused", value: requests.refused.toLocaleString() },
          { label: "Server errors", value: <Count of={requests.server_errors} look="error" /> },
          { label: "Node links", value: links },
          { label: "Replicas", value: replicas },
          { label: "Started", value: <Ago at={requests.replica_started_at} /> },
        ]}
      />
    </Container>
  );
}

export function Queues({ overview: { queues } }: { overview: Overview }) {
  return (
    <Table
      variant="container"
      header={<Header variant="h2">Queues</Header>}
      items={queues}
      trackBy="name"
      columnDefinitions={[
        { id: "name", header: "Queue", cell: ({ name }) => name.replaceAll("_", " "), isRowHeader: true },
        { id: "waiting", header: "Waiting", cell: ({ waiting }) => waiting },
        {
          id: "oldest",
          header: "Oldest",
          cell: ({ oldest_seconds }) => (oldest_seconds === null ? "–" : shortDuration(Math.max(0, oldest_seconds))),
        },
      ]}
      ariaLabels={{ tableLabel: "Queues" }}
      empty={<Box textAlign="center">Nothing waits.</Box>}
    />
  );
}

export function Workers({ overview: { workers } }: { overview: Overview }) {
  const off = workers.filter(({ disabled_at }) => disabled_at !== null);
  const failing = workers.filter(({ failing }) => failing > 0);
  return (
    <Container header={<Header variant="h2">Workers</Header>}>
      <KeyValuePairs
        columns={2}
        items={[
          { label: "Switched on", value: `${workers.length - off.length} of ${workers.length}` },
          { label: "Failing", value: <Count of={failing.length} look="error" /> },
          { label: "Due now", value: workers.reduce((sum, { due }) => sum + due, 0) },
          { label: "In hand", value: workers.reduce((sum, { leased }) => sum + leased, 0) },
          { label: "Each of them", value: <Link to="/platform/workers">See them</Link> },
        ]}
      />
    </Container>
  );
}

/** None is well; more is not. */
function Count({ of, look }: { of: number; look: "error" | "warning" }) {
  return <StatusIndicator type={of > 0 ? look : "success"}>{of.toLocaleString()}</StatusIndicator>;
}

export function counted(numbers: Record<string, number>): string {
  const said = Object.entries(numbers)
    .filter(([, count]) => count > 0)
    .map(([state, count]) => `${count} ${state.replaceAll("_", " ")}`);
  return said.join(", ") || "none";
}
