import { Ago, Until } from "../../parts/Ago";
import { Copy } from "../../parts/Copy";
import type { Column } from "../../parts/DataTable";
import { Link } from "../../parts/Link";
import { perHour } from "../../parts/money";
import { AllocationStatus, HEALTH, Label } from "../../parts/StatusLabel";
import { ActionsMenu } from "./Actions";
import type { MachineRow } from "./machineRows";
import { isEnded } from "./verbs";

export const COLUMNS: readonly Column<MachineRow>[] = [
  {
    id: "name",
    header: "Name",
    sortingField: "name",
    isRowHeader: true,
    cell: (row) => <Link to={`/projects/${row.project_id}/allocations/${row.id}`}>{row.name}</Link>,
  },
  {
    id: "status",
    header: "Status",
    sortingField: "statusWords",
    cell: (row) => <AllocationStatus status={row.status} />,
  },
  {
    id: "health",
    header: "Health",
    sortingField: "healthWords",
    cell: (row) => (isEnded(row) ? "–" : <Label look={HEALTH[row.health]} />),
  },
  { id: "sku", header: "SKU", sortingField: "sku", cell: (row) => `${row.gpu_count} × ${row.sku}` },
  { id: "region", header: "Region", sortingField: "region", isHidden: true, cell: (row) => row.region },
  { id: "price", header: "Price", cell: (row) => perHour(row.price_per_hour) },
  { id: "ends", header: "Time left", sortingField: "endsAt", cell: (row) => <TimeLeft row={row} /> },
  { id: "holder", header: "Holder", sortingField: "holderName", maxWidth: 180, cell: (row) => row.holderName },
  { id: "created", header: "Created", sortingField: "created_at", cell: (row) => <Ago at={row.created_at} /> },
  { id: "id", header: "Id", isHidden: true, cell: (row) => <Copy text={row.id} what="the machine's id" /> },
  { id: "actions", header: "Actions", cell: (row) => <ActionsMenu allocation={row} isRow /> },
];

export const FILTERS = [
  { key: "name", propertyLabel: "Name", groupValuesLabel: "Names" },
  { key: "statusWords", propertyLabel: "Status", groupValuesLabel: "Statuses" },
  { key: "healthWords", propertyLabel: "Health", groupValuesLabel: "Health" },
  { key: "sku", propertyLabel: "SKU", groupValuesLabel: "SKUs" },
  { key: "region", propertyLabel: "Region", groupValuesLabel: "Regions" },
  { key: "holderName", propertyLabel: "Holder", groupValuesLabel: "Holders" },
  { key: "id", propertyLabel: "Id", groupValuesLabel: "Ids" },
];

function TimeLeft({ row }: { row: MachineRow }) {
  const { expires_at, idle_minutes } = row.limits ?? {};
  if (isEnded(row)) return <>–</>;
  if (!expires_at && !idle_minutes) return <>No end</>;
  return (
    <>
      {expires_at && <Until at={expires_at} />}
      {expires_at && idle_minutes && " or "}
      {idle_minutes && `${idle_minutes} min idle`}
    </>
  );
}
