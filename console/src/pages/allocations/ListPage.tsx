import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Toggle from "@cloudscape-design/components/toggle";
import { useMemo } from "react";
import { useNavigate, useParams } from "react-router";
import { useAllocations } from "../../api/queries/allocations";
import { useMembers } from "../../api/queries/members";
import { LOOKS_ON, useMay } from "../../frame/project";
import { DataTable } from "../../parts/DataTable";
import { useKept } from "../../parts/kept";
import { Page } from "../../parts/Page";
import { View } from "../../parts/View";
import { COLUMNS, FILTERS } from "./columns";
import { machineRows } from "./machineRows";

export function ListPage() {
  const { projectId = "" } = useParams();
  const navigate = useNavigate();
  const allocations = useAllocations(projectId);
  const members = useMembers(projectId).data;
  const [isWithEnded, setIsWithEnded] = useKept("allocations-ended", false);
  const { rows, ended } = useMemo(
    () => machineRows(allocations.data ?? [], members ?? [], isWithEnded),
    [allocations.data, members, isWithEnded],
  );
  const works = useMay(projectId, "allocations:create");
  const launch = (
    <Button
      variant="primary"
      disabled={!works}
      disabledReason={LOOKS_ON}
      onClick={() => void navigate(`/projects/${projectId}/launch`)}
    >
      Launch a machine
    </Button>
  );
  return (
    <Page
      title="Machines"
      about="A machine is one environment on one node, with its own address, keys and disk. It costs from when it is active until it is released."
    >
      <View of={allocations} what="machines">
        {() => (
          <DataTable
            id="allocations"
            title={isWithEnded ? "All machines" : "Live machines"}
            what="machines"
            rows={rows}
            rowId={(row) => row.id}
            columns={COLUMNS}
            filters={FILTERS}
            isLastSticky
            actions={
              <SpaceBetween direction="horizontal" size="s" alignItems="center">
                <Toggle checked={isWithEnded} onChange={({ detail }) => setIsWithEnded(detail.checked)}>
                  Show ended ({ended})
                </Toggle>
                {launch}
              </SpaceBetween>
            }
            sorted={{ by: "created", descending: true }}
            empty={
              <Box textAlign="center" padding="l">
                <Box variant="h3">{ended > 0 ? "No machine runs" : "No machine yet"}</Box>
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
