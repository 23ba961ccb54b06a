import Box from "@cloudscape-design/components/box";
import { useParams } from "react-router";
import { useAllocations } from "../../api/queries/allocations";
import { useMembers } from "../../api/queries/members";
import { type Operation, useOperations } from "../../api/queries/operations";
import { useVolumes } from "../../api/queries/volumes";
import { Ago, shortDuration, useNow } from "../../parts/Ago";
import { type Column, DataTable } from "../../parts/DataTable";
import { Link } from "../../parts/Link";
import { Page } from "../../parts/Page";
import { Label, OPERATION } from "../../parts/StatusLabel";
import { View } from "../../parts/View";
import { kindWords, placeOf } from "./words";

/** An operation with its names, so that one can filter and sort by what is shown. */
interface Row extends Operation {
  words: string;
  subject: string;
  person: string;
}

const FILTERS = [
  { key: "words", propertyLabel: "What", groupValuesLabel: "What" },
  { key: "subject", propertyLabel: "Subject", groupValuesLabel: "Subjects" },
  { key: "status", propertyLabel: "Status", groupValuesLabel: "Statuses" },
  { key: "person", propertyLabel: "By", groupValuesLabel: "People" },
  { key: "id", propertyLabel: "Id", groupValuesLabel: "Ids" },
];

const COLUMNS: readonly Column<Row>[] = [
  {
    id: "what",
    header: "What",
    sortingField: "words",
    cell: ({ project_id, id, words }) => <Link to={`/projects/${project_id}/activity/${id}`}>{words}</Link>,
  },
  { id: "subject", header: "On", sortingField: "subject", cell: (row) => <Subject row={row} /> },
  { id: "status", header: "Status", sortingField: "status", cell: ({ status }) => <Label look={OPERATION[status]} /> },
  { id: "took", header: "Took", cell: (row) => <Took operation={row} /> },
  { id: "started", header: "Started", sortingField: "started_at", cell: ({ started_at }) => <Ago at={started_at} /> },
  { id: "by", header: "By", sortingField: "person", cell: ({ person }) => person },
  { id: "reason", header: "Reason", cell: ({ reason }) => reason },
];

export function ActivityPage() {
  const { projectId = "" } = useParams();
  const operations = useOperations(projectId);
  const nameOf = useNames(projectId);
  return (
    <Page
      title="Activity"
      about="Everything long that was asked for in this project, running and past, with how long it took. Open one to see its phases and what the node said."
    >
      <View of={operations} what="operations">
        {(rows) => (
          <DataTable
            id="operations"
            title="Operations"
            what="operations"
            rows={rows.map((row) => ({
              ...row,
              words: kindWords(row.kind),
              subject: nameOf(row.subject_id),
              person: nameOf(row.requested_by),
            }))}
            rowId={({ id }) => id}
            columns={COLUMNS}
            filters={FILTERS}
            sorted={{ by: "started", descending: true }}
            older={operations}
            empty={<Box textAlign="center">Nothing was asked for here yet.</Box>}
          />
        )}
      </View>
    </Page>
  );
}

/** The name of a machine, volume or person, where one is known. */
export function useNames(projectId: string): (id: string) => string {
  const machines = useAllocations(projectId).data ?? [];
  const volumes = useVolumes(projectId).data ?? [];
  const members = useMembers(projectId).data ?? [];
  const names = new Map([
    ...[...machines, ...volumes].map(({ id, name }) => [id, name] as const),
    ...members.map(({ user_id, email }) => [user_id, email] as const),
  ]);
  return (id) => names.get(id) || (id.startsWith("node_") ? "the node" : id);
}

function Subject({ row: { project_id, subject_kind, subject_id, subject } }: { row: Row }) {
  const place = placeOf(project_id, subject_kind, subject_id);
  return place ? <Link to={place}>{subject}</Link> : subject;
}

/** Counts while it runs. */
export function Took({ operation: { started_at, ended_at } }: { operation: Operation }) {
  const now = useNow();
  const seconds = ((ended_at ? Date.parse(ended_at) : now) - Date.parse(started_at)) / 1_000;
  return <>{shortDuration(Math.max(0, seconds))}</>;
}
