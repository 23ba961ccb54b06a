import Grid from "@cloudscape-design/components/grid";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { ConnectCard } from "./ConnectCard";
import { CostCard } from "./CostCard";
import type { TabProps } from "./DetailPage";
import { StatusCard } from "./StatusCard";
import { TimeLeftCard } from "./TimeLeftCard";

const WIDE = { colspan: { default: 12, m: 8 } };
const NARROW = { colspan: { default: 12, m: 4 } };

export function OverviewTab({ allocation }: TabProps) {
  return (
    <Grid gridDefinition={[WIDE, NARROW]}>
      <SpaceBetween size="l">
        <ConnectCard allocation={allocation} />
        <StatusCard allocation={allocation} />
      </SpaceBetween>
      <SpaceBetween size="l">
        <CostCard allocation={allocation} />
        <TimeLeftCard allocation={allocation} />
      </SpaceBetween>
    </Grid>
  );
}
