import Box from "@cloudscape-design/components/box";
import ColumnLayout from "@cloudscape-design/components/column-layout";
import Container from "@cloudscape-design/components/container";
import Header from "@cloudscape-design/components/header";
import StatusIndicator from "@cloudscape-design/components/status-indicator";

/** Said before it is made, so that nobody learns it from a loss. */
export function Persists({ volumes }: { volumes: readonly string[] }) {
  return (
    <Container header={<Header variant="h2">What stays, and what does not</Header>}>
      <ColumnLayout columns={3} variant="text-grid">
        <div>
          <StatusIndicator>Stays after a restart</StatusIndicator>
          <Box>
            All files, its address and host key, keys and grants, volumes, the runtime bundle. Programs that run are
            ended.
          </Box>
        </div>
        <div>
          <StatusIndicator>Stays after release</StatusIndicator>
          <Box>{stays(volumes)}</Box>
        </div>
        <div>
          <StatusIndicator type="warning">Lost at release</StatusIndicator>
          <Box>The machine's own disk with the home folder, everything that runs, and its address.</Box>
        </div>
      </ColumnLayout>
    </Container>
  );
}

function stays(volumes: readonly string[]): string {
  if (volumes.length === 0) return "Its history and audit. No data: there is no volume.";
  return `${volumes.join(", ")}, with all data; its history and audit.`;
}
