import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import { useNavigate, useParams } from "react-router";
import { type Allocation, useAllocations } from "../../api/queries/allocations";
import { Ago } from "../../parts/Ago";
import { type Column, DataTable } from "../../parts/DataTable";
import { Link } from "../../parts/Link";
import { perHour } from "../../parts/money";
import { Page } from "../../parts/Page";
import { ALLOCATION, AllocationStatus } from "../../parts/StatusLabel";
import { View } from "../../parts/View";

const COLUMNS: readonly Column<Allocation>[] = [
  {
    id: "name",
    header: "Name",
    sortingField: "name",
    cell: (row) => <Link to={`/projects/${row.project_id}/allocations/${row.id}`}>{row.name}</Link>,
  },
  { id: "status", header: "Status", sortingField: "status", cell: (row) => <AllocationStatus status={row.status} /> },
  { id: "sku", header: "SKU", sortingField: "sku", cell: (row) => row.sku },
  { id: "gpus", header: "GPUs", sortingField: "gpu_count", cell: (row) => row.gpu_count },
  { id: "price", header: "Price", cell: (row) => perHour(row.price_per_hour) },
  { id: "created", header: "Created", sortingField: "created_at", cell: (row) => <Ago at={row.created_at} /> },
];

const FILTERS = [
  { key: "name", propertyLabel: "Name", groupValuesLabel: "Names" },
  { key: "status", propertyLabel: "Status", groupValuesLabel: Object.keys(ALLOCATION).join(", ") },
  { key: "sku", propertyLabel: "SKU", groupValuesLabel: "SKUs" },
  { key: "id", propertyLabel: "Id", groupValuesLabel: "Ids" },
];

export function ListPage() {
  const { projectId = "" } = useParams();
  const navigate = useNavigate();
  const launch = (
    <Button variant="primary" onClick={() => void navigate(`/projects/${projectId}/launch`)}>
      Launch a machine
    </Button>
  );
  return (
    <Page
      title="Machines"
      about="A machine is one environment on one node, with its own address, keys and disk. It costs from when it is active until it is released."
    >
      <View of={useAllocations(projectId)} what="machines">
        {(rows) => (
          <DataTable
            id="allocations"
            title="Machines"
            what="machines"
            rows={rows}
            rowId={(row) => row.id}
            columns={COLUMNS}
            filters={FILTERS}
            actions={launch}
            sorted={{ by: "created", descending: true }}
            empty={
              <Box textAlign="center" padding="l">
                <Box variant="h3">No machine yet</Box>
                <Box padding={{ bottom: "s" }}>Pick a GPU, add your key, and be inside in a second.</Box>
                {launch}
              </Box>
            }
          />
        )}
      </View>
    </Page>
  );
}
