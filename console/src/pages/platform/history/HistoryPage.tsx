import Box from "@cloudscape-design/components/box";
import Select from "@cloudscape-design/components/select";
import { useState } from "react";
import { useNodes } from "../../../api/queries/nodes";
import { type Operation, type OperationStatus, useFleetOperations } from "../../../api/queries/operations";
import { Ago, duration } from "../../../parts/Ago";
import { Copy } from "../../../parts/Copy";
import { type Column, DataTable } from "../../../parts/DataTable";
import { Page } from "../../../parts/Page";
import { Label, OPERATION } from "../../../parts/StatusLabel";
import { View } from "../../../parts/View";
import { PLATFORM } from "../paths";

const CHOICES: readonly { value: "" | OperationStatus; label: string }[] = [
  { value: "", label: "All states" },
  { value: "running", label: "Running" },
  { value: "failed", label: "Failed" },
  { value: "succeeded", label: "Succeeded" },
];

function columns(nodes: ReadonlyMap<string, string>): Column<Operation>[] {
  return [
    { id: "kind", header: "Operation", cell: ({ kind }) => kind.replaceAll("_", " ") },
    { id: "status", header: "State", cell: ({ status }) => <Label look={OPERATION[status]} /> },
    { id: "started", header: "Started", cell: ({ started_at }) => <Ago at={started_at} /> },
    { id: "took", header: "Duration", cell: took },
    { id: "reason", header: "Reason", cell: ({ reason }) => reason || "–" },
    { id: "object", header: "Object", cell: ({ subject_kind }) => subject_kind.replaceAll("_", " ") },
    { id: "subject", header: "Object id", cell: ({ subject_id }) => <Copy text={subject_id} what="the object's id" /> },
    { id: "node", header: "Node", cell: ({ node_id }) => (node_id ? (nodes.get(node_id) ?? node_id) : "–") },
    {
      id: "project",
      header: "Project",
      cell: ({ project_id }) => (project_id ? <Copy text={project_id} what="the project's id" /> : "None"),
    },
    { id: "id", header: "Id", isHidden: true, cell: ({ id }) => <Copy text={id} what="the operation's id" /> },
  ];
}

function took({ started_at, ended_at }: Operation): string {
  return ended_at === null ? "–" : duration((Date.parse(ended_at) - Date.parse(started_at)) / 1_000);
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
                selectedOption={CHOICES.find(({ value }) => value === status) ?? null}
                options={[...CHOICES]}
                ariaLabel="State"
                onChange={({ detail }) =>
                  setStatus(CHOICES.find(({ value }) => value === detail.selectedOption.value)?.value ?? "")
                }
              />
            }
            older={operations}
            empty={<Box textAlign="center">No operation matches.</Box>}
          />
        )}
      </View>
    </Page>
  );
}
