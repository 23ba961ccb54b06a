import Box from "@cloudscape-design/components/box";
import Select from "@cloudscape-design/components/select";
import { useState } from "react";
import { useNodes } from "../../../api/queries/nodes";
import { type Operation, type OperationStatus, useFleetOperations } from "../../../api/queries/operations";
import { Ago, duration } from "../../../parts/Ago";
import { Copy } from "../../../parts/Copy";
import { type Column, DataTable } from "../../../parts/DataTable";
import { Link } from "../../../parts/Link";
import { Page } from "../../../parts/Page";
import { Label, OPERATION } from "../../../parts/StatusLabel";
import { View } from "../../../parts/View";
import { kindWords } from "../../activity/words";
import { PLATFORM } from "../paths";

const CHOICES: readonly { value: "" | OperationStatus; label: string }[] = [
  { value: "", label: "All states" },
  { value: "running", label: "Running" },
  { value: "failed", label: "Failed" },
  { value: "succeeded", label: "Succeeded" },
];

function columns(nodes: ReadonlyMap<string, string>): Column<Operation>[] {
  return [
    { id: "kind", header: "Operation", minWidth: 130, cell: ({ kind }) => kindWords(kind) },
    { id: "status", header: "State", minWidth: 105, cell: ({ status }) => <Label look={OPERATION[status]} /> },
    { id: "started", header: "Started", minWidth: 95, cell: ({ started_at }) => <Ago at={started_at} /> },
    { id: "took", header: "Duration", cell: took },
    {
      id: "reason",
      header: "Reason",
      minWidth: 180,
      cell: ({ reason }) => <span className="break-anywhere">{reason || "–"}</span>,
    },
    { id: "object", header: "Object", minWidth: 170, cell: (operation) => <Subject operation={operation} /> },
    {
      id: "node",
      header: "Node",
      minWidth: 105,
      cell: ({ node_id }) =>
        node_id ? <Link to={`/platform/nodes/${node_id}`}>{nodes.get(node_id) ?? node_id}</Link> : "–",
    },
    {
      id: "project",
      header: "Project",
      minWidth: 150,
      cell: ({ project_id }) =>
        project_id ? (
          <span className="break-anywhere">
            <Link to={`/platform/accounts/projects/${project_id}`}>{project_id}</Link>
          </span>
        ) : (
          "None"
        ),
    },
    { id: "id", header: "Id", isHidden: true, cell: ({ id }) => <Copy text={id} what="the operation's id" /> },
  ];
}

function took({ started_at, ended_at }: Operation): string {
  return ended_at === null ? "–" : duration((Date.parse(ended_at) - Date.parse(started_at)) / 1_000);
}

function Subject({ operation: { subject_kind, subject_id } }: { operation: Operation }) {
  const id = <Copy text={subject_id} what="the object's id" />;
  if (subject_kind !== "allocation") {
    return (
      <>
        {kindWords(subject_kind)} {id}
      </>
    );
  }
  return (
    <>
      <Link to={`/platform/operations/${subject_id}`}>Allocation</Link> {id}
    </>
  );
}

/** Running and past operations of the whole fleet, staging included. */
export function HistoryPage() {
  const [status, setStatus] = useState<"" | OperationStatus>("");
  const operations = useFleetOperations(status || undefined);
  const nodes = new Map((useNodes().data ?? []).map(({ id, name }) => [id, name]));
  return (
    <Page
      title="Operation history"
      about="Running and past operations of all projects, and staging, which belongs to no project. Newest first."
      crumbs={[PLATFORM]}
    >
      <View of={operations} what="operations">
        {(all) => (
          <DataTable
            id="fleet-operations"
            title="Operations"
            what="operations"
            rows={all}
            rowId={({ id }) => id}
            columns={columns(nodes)}
            filter={
              <Select
                className="narrow-filter"
                selectedOption={CHOICES.find(({ value }) => value === status) ?? null}
                options={[...CHOICES]}
                ariaLabel="State"
                onChange={({ detail }) =>
                  setStatus(CHOICES.find(({ value }) => value === detail.selectedOption.value)?.value ?? "")
                }
              />
            }
            isWrapped
            older={operations}
            empty={<Box textAlign="center">No operation matches the filter.</Box>}
          />
        )}
      </View>
    </Page>
  );
}
