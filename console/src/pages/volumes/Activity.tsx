import Box from "@cloudscape-design/components/box";
import Header from "@cloudscape-design/components/header";
import StatusIndicator, { type StatusIndicatorProps } from "@cloudscape-design/components/status-indicator";
import Table from "@cloudscape-design/components/table";
import type { Entry } from "../../api/live";
import { useVolumeTimeline, type Volume } from "../../api/queries/volumes";
import { Ago } from "../../parts/Ago";
import { View } from "../../parts/View";

const LOOKS: Record<Entry["outcome"], StatusIndicatorProps.Type> = {
  began: "in-progress",
  done: "success",
  failed: "error",
};

export function Activity({ volume }: { volume: Volume }) {
  return (
    <View of={useVolumeTimeline(volume.id)} what="entries">
      {(entries) => (
        <Table<Entry>
          header={
            <Header variant="h2" description="Attaching and detaching stand on the machines' own timelines.">
              What happened to it
            </Header>
          }
          items={entries}
          trackBy={({ id }) => String(id)}
          ariaLabels={{ tableLabel: "What happened to it" }}
          wrapLines
          columnDefinitions={[
            { id: "at", header: "When", cell: ({ at }) => <Ago at={at} /> },
            {
              id: "phase",
              header: "What",
              cell: ({ phase, outcome }) => <StatusIndicator type={LOOKS[outcome]}>{words(phase)}</StatusIndicator>,
            },
            { id: "who", header: "By", cell: ({ actor_name }) => actor_name },
            { id: "note", header: "Note", cell: ({ note }) => note || "–" },
          ]}
          empty={<Box color="text-body-secondary">Nothing yet.</Box>}
        />
      )}
    </View>
  );
}

function words(phase: string): string {
  const text = phase.replaceAll("_", " ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}
