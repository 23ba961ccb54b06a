import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import Popover from "@cloudscape-design/components/popover";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useSearchParams } from "react-router";
import { type AuditFilter, type AuditOf, type AuditRow, useAudit } from "../../api/queries/audit";
import { Ago } from "../../parts/Ago";
import { Copy } from "../../parts/Copy";
import { type Column, DataTable } from "../../parts/DataTable";
import { Link } from "../../parts/Link";
import { AUDIT, Label } from "../../parts/StatusLabel";
import { View } from "../../parts/View";
import { AuditExport } from "./AuditExport";
import { AuditFilters, type Person } from "./AuditFilters";
import { readFilter, writeFilter } from "./auditFilter";
import type { Target } from "./words";
import "./audit.css";

interface Props {
  log: AuditOf;
  /** People to choose from; without them an id is typed. */
  people?: readonly Person[];
  targetOf: (row: AuditRow) => Target;
}

/** An audit log with its filters: of a project, of a tenant, or of the platform. */
export function AuditLog({ log, people, targetOf }: Props) {
  const [params, setParams] = useSearchParams();
  const filter = readFilter(params);
  const audit = useAudit(log, filter);
  const setFilter = (next: AuditFilter) => setParams(writeFilter(next), { replace: true });
  return (
    <View of={audit} what="audit rows">
      {(rows) => (
        <DataTable
          id={log.of === "project" ? "audit" : `audit-${log.of}`}
          title="Audit log"
          what="rows"
          rows={rows}
          rowId={({ id }) => `${id}`}
          columns={columns(targetOf, (change) => setFilter({ ...filter, ...change }))}
          filter={<AuditFilters filter={filter} onChange={setFilter} {...(people ? { people } : {})} />}
          actions={
            <SpaceBetween direction="horizontal" size="xs">
              <Button
                iconName="refresh"
                ariaLabel="Refresh"
                loading={audit.isFetching && !audit.isFetchingNextPage}
                onClick={() => void audit.refetch()}
              />
              <AuditExport log={log} filter={filter} />
            </SpaceBetween>
          }
          isWrapped
          isLastSticky
          older={audit}
          empty={<Nothing filter={filter} onClear={() => setFilter({})} />}
        />
      )}
    </View>
  );
}

function Nothing({ filter, onClear }: { filter: AuditFilter; onClear: () => void }) {
  const isFiltered = Object.keys(filter).length > 0;
  return (
    <Box textAlign="center" padding="m">
      <Box padding={{ bottom: "s" }}>{isFiltered ? "No row matches the filters." : "Nothing was recorded yet."}</Box>
      {isFiltered && <Button onClick={onClear}>Clear the filters</Button>}
    </Box>
  );
}

type Narrow = (change: AuditFilter) => void;

function columns(targetOf: Props["targetOf"], narrow: Narrow): Column<AuditRow>[] {
  return [
    { id: "at", header: "Time", cell: ({ at }) => <Ago at={at} />, minWidth: 110 },
    {
      id: "action",
      header: "Action",
      minWidth: 140,
      cell: ({ action }) => <code className="break-anywhere">{action}</code>,
    },
    {
      id: "actor",
      header: "Actor",
      minWidth: 200,
      cell: ({ actor_name }) => <span className="break-anywhere">{actor_name}</span>,
    },
    {
      id: "result",
      header: "Result",
      minWidth: 110,
      cell: ({ result, repeats }) => (
        <>
          <Label look={AUDIT[result]} />
          {repeats > 1 && ` ${repeats} times`}
        </>
      ),
    },
    { id: "target", header: "Target", minWidth: 210, cell: (row) => <Place {...targetOf(row)} /> },
    { id: "details", header: "Details", cell: (row) => <Details row={row} narrow={narrow} /> },
  ];
}

function Place({ text, place }: Target) {
  return place ? <Link to={place}>{text}</Link> : <span className="break-anywhere">{text}</span>;
}

function Details({ row, narrow }: { row: AuditRow; narrow: Narrow }) {
  const { actor, action, target_id, correlation_id, facts } = row;
  return (
    <Popover
      header="Details"
      size="large"
      triggerType="text"
      renderWithPortal // a sticky column would cut it off
      dismissAriaLabel="Close"
      content={
        <SpaceBetween size="xs">
          <Fact name="Actor" text={actor} />
          <Fact name="Target" text={target_id} />
          {correlation_id && <Fact name="Correlation id" text={correlation_id} />}
          <pre className="audit-facts">{JSON.stringify(facts, null, 2)}</pre>
          <SpaceBetween direction="horizontal" size="xs">
            <Button onClick={() => narrow({ actor })}>Only this actor</Button>
            <Button onClick={() => narrow({ target: target_id })}>Only this target</Button>
            <Button onClick={() => narrow({ action })}>Only this action</Button>
          </SpaceBetween>
        </SpaceBetween>
      }
    >
      Show
    </Popover>
  );
}

function Fact({ name, text }: { name: string; text: string }) {
  return (
    <div>
      <Box variant="awsui-key-label">{name}</Box>
      <Copy text={text} what={name.toLowerCase()} />
    </div>
  );
}
