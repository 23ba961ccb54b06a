import Grid from "@cloudscape-design/components/grid";
import { ConnectCard } from "./ConnectCard";
import { CostCard } from "./CostCard";
import type { TabProps } from "./DetailPage";
import { StatusCard } from "./StatusCard";
import { TimeLeftCard } from "./TimeLeftCard";

const HALF = { colspan: { default: 12, m: 6 } };
const WIDE = { colspan: { default: 12, m: 8 } };
const NARROW = { colspan: { default: 12, m: 4 } };

export function OverviewTab({ allocation }: TabProps) {
  return (
    <Grid gridDefinition={[WIDE, NARROW, HALF, HALF]}>
      <ConnectCard allocation={allocation} />
      <CostCard allocation={allocation} />
      <StatusCard allocation={allocation} />
      <TimeLeftCard allocation={allocation} />
    </Grid>
  );
}
