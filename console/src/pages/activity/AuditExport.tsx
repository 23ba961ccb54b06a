import Button from "@cloudscape-design/components/button";
import ButtonDropdown from "@cloudscape-design/components/button-dropdown";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useState } from "react";
import { asProblem } from "../../api/problem";
import { type AuditFilter, type AuditOf, type AuditRow, exportAddress, readWholeAudit } from "../../api/queries/audit";
import { notifyProblem } from "../../frame/notices";
import { csv, download, jsonLines } from "../../parts/csv";

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

/** All rows that match the filter, not only those that are shown; and the server's export of everything. */
export function AuditExport({ log, filter }: { log: AuditOf; filter: AuditFilter }) {
  const [read, setRead] = useState<number | null>(null);
  const whole = exportAddress(log);
  const save = async (format: string) => {
    setRead(0);
    try {
      const rows = await readWholeAudit(log, filter, setRead);
      if (format === "csv") download("audit.csv", "text/csv", table(rows));
      else download("audit.jsonl", "application/x-ndjson", jsonLines(rows));
    } catch (error) {
      notifyProblem(asProblem(error));
    } finally {
      setRead(null);
    }
  };
  return (
    <SpaceBetween direction="horizontal" size="xs">
      <ButtonDropdown
        items={[
          { id: "csv", text: "CSV" },
          { id: "jsonl", text: "JSON lines" },
        ]}
        loading={read !== null}
        loadingText={`${read ?? 0} rows read`}
        onItemClick={({ detail }) => void save(detail.id)}
      >
        Export matching rows
      </ButtonDropdown>
      {whole && (
        <Button href={whole} download="audit.jsonl" iconName="download">
          Export the whole log
        </Button>
      )}
    </SpaceBetween>
  );
}

function table(rows: readonly AuditRow[]): string {
  return csv(
    [...HEADER, "facts"],
    rows.map((row) => [...HEADER.map((name) => row[name]), JSON.stringify(row.facts)]),
  );
}
