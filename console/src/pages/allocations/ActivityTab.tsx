import SpaceBetween from "@cloudscape-design/components/space-between";
import { LogTail } from "./activity/LogTail";
import { Operations } from "./activity/Operations";
import { TimelineList } from "./activity/TimelineList";
import type { TabProps } from "./DetailPage";

export function ActivityTab({ allocation }: TabProps) {
  return (
    <SpaceBetween size="l">
      <Operations allocation={allocation} />
      <LogTail allocation={allocation} />
      <TimelineList allocation={allocation} />
    </SpaceBetween>
  );
}
