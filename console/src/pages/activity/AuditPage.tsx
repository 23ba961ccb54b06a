import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import ButtonDropdown from "@cloudscape-design/components/button-dropdown";
import Popover from "@cloudscape-design/components/popover";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useState } from "react";
import { useParams, useSearchParams } from "react-router";
import { asProblem } from "../../api/problem";
import { type AuditFilter, type AuditRow, readWholeAudit, useAudit } from "../../api/queries/audit";
import { notifyProblem } from "../../frame/notices";
import { Ago } from "../../parts/Ago";
import { Copy } from "../../parts/Copy";
import { csv, download, jsonLines } from "../../parts/csv";
import { type Column, DataTable } from "../../parts/DataTable";
import { Link } from "../../parts/Link";
import { Page } from "../../parts/Page";
import { AUDIT, Label } from "../../parts/StatusLabel";
import { View } from "../../parts/View";
import { useNames } from "./ActivityPage";
import { AuditFilters } from "./AuditFilters";
import { readFilter, writeFilter } from "./auditFilter";
import { targetOf } from "./words";
import "./audit.css";

export function AuditPage() {
  const { projectId = "" } = useParams();
  const [params, setParams] = useSearchParams();
  const filter = readFilter(params);
  const audit = useAudit(projectId, filter);
  const nameOf = useNames(projectId);
  return (
    <Page
      title="Audit log"
      about="Who did what in this project, or was refused. It is written together with each change and never altered; the correlation id finds the same request in the server's log."
    >
      <View of={audit} what="rows">
        {(rows) => (
          <DataTable
            id="audit"
            title="Audit log"
            what="rows"
            rows={rows}
            rowId={({ id }) => `${id}`}
            columns={columns(projectId, nameOf)}
            filter={
              <AuditFilters
                projectId={projectId}
                filter={filter}
                onChange={(next) => setParams(writeFilter(next), { replace: true })}
              />
            }
            actions={
              <SpaceBetween direction="horizontal" size="xs">
                <Button
                  iconName="refresh"
                  ariaLabel="Look again"
                  loading={audit.isRefetching && !audit.isFetchingNextPage}
                  onClick={() => void audit.refetch()}
                />
                <Export projectId={projectId} filter={filter} />
              </SpaceBetween>
            }
            older={audit}
            empty={<Box textAlign="center">Nothing like that was done here.</Box>}
          />
        )}
      </View>
    </Page>
  );
}

function columns(projectId: string, nameOf: (id: string) => string): Column<AuditRow>[] {
  return [
    { id: "at", header: "When", cell: ({ at }) => <Ago at={at} />, minWidth: 110 },
    { id: "actor", header: "Who", cell: ({ actor_name }) => actor_name },
    { id: "action", header: "Action", cell: ({ action }) => <code>{action}</code> },
    {
      id: "result",
      header: "Result",
      cell: ({ result, repeats }) => (
        <>
          <Label look={AUDIT[result]} />
          {repeats > 1 && ` ${repeats} times`}
        </>
      ),
    },
    { id: "target", header: "On", cell: (row) => <Target row={row} projectId={projectId} nameOf={nameOf} /> },
    { id: "details", header: "Details", cell: (row) => <Details row={row} /> },
  ];
}

function Target({ row, projectId, nameOf }: { row: AuditRow; projectId: string; nameOf: (id: string) => string }) {
  const { text, place } = targetOf(row, projectId, nameOf);
  return place ? <Link to={place}>{text}</Link> : <span className="break-anywhere">{text}</span>;
}

function Details({ row: { target_id, correlation_id, facts } }: { row: AuditRow }) {
  return (
    <Popover
      header="Details"
      size="large"
      triggerType="text"
      dismissAriaLabel="Close"
      content={
        <SpaceBetween size="xs">
          <Copy text={target_id} what="target id" />
          <Copy text={correlation_id} what="correlation id" />
          <pre className="audit-facts">{JSON.stringify(facts, null, 2)}</pre>
        </SpaceBetween>
      }
    >
      Show
    </Popover>
  );
}

const HEADER = [
  "at",
  "actor",
  "actor_name",
  "action",
  "target_kind",
  "target_id",
  "result",
  "repeats",
  "correlation_id",
] as const;

/** All rows of the filter, not only those that are shown. */
function Export({ projectId, filter }: { projectId: string; filter: AuditFilter }) {
  const [read, setRead] = useState<number | null>(null);
  const save = async (format: string) => {
    setRead(0);
    try {
      const rows = await readWholeAudit(projectId, filter, setRead);
      if (format === "csv") download("audit.csv", "text/csv", table(rows));
      else download("audit.jsonl", "application/x-ndjson", jsonLines(rows));
    } catch (error) {
      notifyProblem(asProblem(error));
    } finally {
      setRead(null);
    }
  };
  return (
    <ButtonDropdown
      items={[
        { id: "csv", text: "CSV" },
        { id: "jsonl", text: "JSON lines" },
      ]}
      loading={read !== null}
      loadingText={`${read ?? 0} rows read`}
      onItemClick={({ detail }) => void save(detail.id)}
    >
      Export
    </ButtonDropdown>
  );
}

function table(rows: readonly AuditRow[]): string {
  return csv(
    [...HEADER, "facts"],
    rows.map((row) => [...HEADER.map((name) => row[name]), JSON.stringify(row.facts)]),
  );
}
