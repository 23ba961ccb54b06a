import type { Allocation } from "../../../api/queries/allocations";
import { useNodeNames } from "../../../api/queries/nodes";
import { For } from "../../../parts/Ago";
import type { Column } from "../../../parts/DataTable";
import { Link } from "../../../parts/Link";
import { ALLOCATION, AllocationStatus } from "../../../parts/StatusLabel";

/** Everybody's machines as operators see them: by what keeps them, not by what they cost. */
export const COLUMNS: readonly Column<Allocation>[] = [
  {
    id: "name",
    header: "Machine",
    sortingField: "name",
    cell: ({ id, name }) => <Link to={`/platform/operations/${id}`}>{name}</Link>,
  },
  {
    id: "status",
    header: "Status",
    sortingField: "status",
    cell: ({ status }) => <AllocationStatus status={status} />,
  },
  { id: "reason", header: "Why", cell: ({ status_reason }) => status_reason || "–" },
  {
    id: "since",
    header: "How long",
    sortingField: "status_since",
    cell: ({ status_since }) => <For since={status_since} />,
  },
  {
    id: "sku",
    header: "SKU",
    sortingField: "sku",
    cell: ({ sku, gpu_count }) => `${sku}, ${gpu_count} GPU${gpu_count === 1 ? "" : "s"}`,
  },
  { id: "node", header: "Node", cell: ({ node }) => <NodeLink id={node.id} /> },
  { id: "project", header: "Project", sortingField: "project_id", cell: ({ project_id }) => <code>{project_id}</code> },
];

export const FILTERS = [
  { key: "name", propertyLabel: "Machine", groupValuesLabel: "Machines" },
  { key: "status", propertyLabel: "Status", groupValuesLabel: Object.keys(ALLOCATION).join(", ") },
  { key: "status_reason", propertyLabel: "Why", groupValuesLabel: "Reasons" },
  { key: "project_id", propertyLabel: "Project", groupValuesLabel: "Projects" },
  { key: "id", propertyLabel: "Id", groupValuesLabel: "Ids" },
];

export function NodeLink({ id }: { id: string }) {
  const nameOf = useNodeNames();
  return <Link to={`/platform/nodes/${id}`}>{nameOf(id)}</Link>;
}
