import Box from "@cloudscape-design/components/box";
import ProgressBar from "@cloudscape-design/components/progress-bar";
import type { ReactNode } from "react";
import type { QuotaLine } from "../api/queries/quotas";
import { type Column, DataTable } from "./DataTable";
import { amount, labelOf, limitedBy } from "./quotaWords";

const RESOURCE: Column<QuotaLine> = { id: "resource", header: "Resource", cell: labelOf };
const LIMIT: Column<QuotaLine> = {
  id: "limit",
  header: "Limit",
  cell: ({ dimension, limit }) => amount(dimension, limit),
};
const COLUMNS: readonly Column<QuotaLine>[] = [
  RESOURCE,
  { id: "remaining", header: "Remaining", cell: ({ dimension, remaining }) => amount(dimension, remaining, "–") },
  { id: "used", header: "In use", cell: ({ dimension, used }) => amount(dimension, used, "–") },
  LIMIT,
  { id: "share", header: "Share used", cell: (line) => <Share line={line} /> },
  { id: "by", header: "Limited by", cell: limitedBy },
];
const DEFAULTS: readonly Column<QuotaLine>[] = [RESOURCE, LIMIT];

interface Props {
  lines: readonly QuotaLine[];
  /** Defaults are used by nobody in particular. */
  isDefault?: boolean;
  actions?: ReactNode;
  description?: ReactNode;
}

export function QuotaTable({ lines, isDefault = false, actions, description }: Props) {
  return (
    <DataTable
      id={isDefault ? "quota-defaults" : "quota"}
      title="Limits"
      what="limits"
      rows={lines}
      rowId={({ dimension }) => dimension}
      columns={isDefault ? DEFAULTS : COLUMNS}
      actions={actions}
      description={description}
      isPlain
      empty={<Box textAlign="center">No limits are set.</Box>}
    />
  );
}

function Share({ line }: { line: QuotaLine }) {
  if (line.limit === null || line.used === null) return <>–</>;
  const percent = line.limit === 0 ? 100 : Math.min(100, Math.round((100 * line.used) / line.limit));
  return <ProgressBar value={percent} ariaLabel={`${labelOf(line)} used`} />;
}
