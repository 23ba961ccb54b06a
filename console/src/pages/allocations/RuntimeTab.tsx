import Box from "@cloudscape-design/components/box";
import type { TabProps } from "./DetailPage";

export function RuntimeTab({ allocation }: TabProps) {
  return <Box color="text-body-secondary">{allocation.name} has nothing to show here yet.</Box>;
}
