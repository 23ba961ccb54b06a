import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import { useNavigate, useParams, useSearchParams } from "react-router";
import { useVolumes, type Volume } from "../../api/queries/volumes";
import { LOOKS_ON, useMay } from "../../frame/project";
import { Ago } from "../../parts/Ago";
import { type Column, DataTable } from "../../parts/DataTable";
import { Link } from "../../parts/Link";
import { Page } from "../../parts/Page";
import { Label, VOLUME } from "../../parts/StatusLabel";
import { View } from "../../parts/View";
import { DURABILITY, WRITE_POLICY } from "../../parts/VolumeFields";
import { AttachedTo } from "./AttachedTo";
import { CreateVolume } from "./CreateVolume";
import { usedWords } from "./Usage";

const COLUMNS: readonly Column<Volume>[] = [
  {
    id: "name",
    header: "Name",
    sortingField: "name",
    cell: (row) => <Link to={`/projects/${row.project_id}/volumes/${row.id}`}>{row.name}</Link>,
  },
  { id: "status", header: "Status", sortingField: "status", cell: (row) => <Label look={VOLUME[row.status]} /> },
  {
    id: "used",
    header: "Used",
    sortingComparator: (a, b) => (a.usage?.used_bytes ?? 0) - (b.usage?.used_bytes ?? 0),
    cell: usedWords,
  },
  {
    id: "durability",
    header: "Durability",
    sortingField: "durability",
    cell: (row) => DURABILITY[row.durability].word,
  },
  {
    id: "writers",
    header: "Writers",
    sortingField: "write_policy",
    cell: (row) => WRITE_POLICY[row.write_policy].word,
  },
  { id: "attached", header: "Attached to", cell: (row) => <AttachedTo volume={row} /> },
  { id: "created", header: "Made", sortingField: "created_at", cell: (row) => <Ago at={row.created_at} /> },
];

const FILTERS = [
  { key: "name", propertyLabel: "Name", groupValuesLabel: "Names" },
  { key: "status", propertyLabel: "Status", groupValuesLabel: "Statuses" },
  { key: "durability", propertyLabel: "Durability", groupValuesLabel: "Kinds of durability" },
  { key: "id", propertyLabel: "Id", groupValuesLabel: "Ids" },
];

export function ListPage() {
  const { projectId = "" } = useParams();
  const [params, setParams] = useSearchParams();
  const navigate = useNavigate();
  const works = useMay(projectId, "volumes:write");
  const make = (
    <Button variant="primary" disabled={!works} disabledReason={LOOKS_ON} onClick={() => setParams({ new: "" })}>
      Make a volume
    </Button>
  );
  return (
    <Page
      title="Volumes"
      about="A volume is a folder that outlives machines: attach it to one, release that, attach it to the next. A machine's own disk is erased at release."
    >
      <View of={useVolumes(projectId)} what="volumes">
        {(rows) => (
          <DataTable
            id="volumes"
            title="Volumes"
            what="volumes"
            rows={rows}
            rowId={(row) => row.id}
            columns={COLUMNS}
            filters={FILTERS}
            actions={make}
            sorted={{ by: "created", descending: true }}
            empty={
              <Box textAlign="center" padding="l">
                <Box variant="h3">No volume yet</Box>
                <Box padding={{ bottom: "s" }}>Data that is to outlive a machine belongs on one.</Box>
                {make}
              </Box>
            }
          />
        )}
      </View>
      {params.has("new") && (
        <CreateVolume
          projectId={projectId}
          onCancel={() => setParams({})}
          onDone={({ id }) => void navigate(`/projects/${projectId}/volumes/${id}`)}
        />
      )}
    </Page>
  );
}
