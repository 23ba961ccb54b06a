import Box from "@cloudscape-design/components/box";
import Container from "@cloudscape-design/components/container";
import Header from "@cloudscape-design/components/header";
import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { type Allocation, useLimits } from "../../api/queries/allocations";
import type { components } from "../../api/schema";
import { Ago, Until } from "../../parts/Ago";
import { View } from "../../parts/View";
import { ActionButton } from "./Actions";
import { isEnded } from "./verbs";

type LimitsNow = components["schemas"]["LimitsNow"];
type Signal = components["schemas"]["UseSignal"];

const SIGNALS: Record<string, string> = {
  cpu: "Processor",
  gpu: "GPU",
  ssh_sessions: "SSH sessions",
  terminal: "Web terminal",
  workloads: "Workloads",
};

/** When it ends by itself, as things stand, and the signs of use that say so. */
export function TimeLeftCard({ allocation }: { allocation: Allocation }) {
  const limits = useLimits(allocation.id);
  const ended = isEnded(allocation);
  return (
    <Container
      header={
        <Header actions={ended ? undefined : <ActionButton verb="extend" allocation={allocation} />}>Time left</Header>
      }
    >
      {ended ? (
        <Box>
          It ended <Ago at={allocation.released_at ?? allocation.status_since} />.
        </Box>
      ) : (
        <View of={limits} what="limits">
          {(now) => <TimeLeft now={now} />}
        </View>
      )}
    </Container>
  );
}

function TimeLeft({ now }: { now: LimitsNow }) {
  const { expires_at, idle_minutes } = now.limits;
  return (
    <SpaceBetween size="m">
      <KeyValuePairs
        columns={1}
        minColumnWidth={180}
        items={[
          {
            label: "Ends",
            value: expires_at ? <End at={expires_at} /> : "Never by itself: it runs until it is released",
          },
          {
            label: "When idle",
            value: idle_minutes ? <Idle now={now} minutes={idle_minutes} /> : "Stays, however long",
          },
        ]}
      />
      <div>
        <Box variant="awsui-key-label">Signs of use</Box>
        <ul className="signals">
          {now.signals.map((signal) => (
            <li key={signal.kind}>
              <span>{SIGNALS[signal.kind] ?? signal.kind}</span>
              <Seen signal={signal} />
            </li>
          ))}
        </ul>
        {now.signals.length === 0 && <Box color="text-body-secondary">Nothing has been measured yet.</Box>}
      </div>
    </SpaceBetween>
  );
}

function End({ at }: { at: string }) {
  return (
    <>
      <Until at={at} />
      <Box color="text-body-secondary">{new Date(at).toLocaleString()}, then it is released</Box>
    </>
  );
}

/** A sign that cannot be read is taken for work, so the idle clock may stand still. */
function Idle({ now, minutes }: { now: LimitsNow; minutes: number }) {
  return (
    <>
      Released after {minutes} idle minutes
      <Box color="text-body-secondary">
        {now.idle_since && now.idle_ends_at ? (
          <>
            No work since <Ago at={now.idle_since} />; ends <Until at={now.idle_ends_at} />
          </>
        ) : (
          "The clock stands still: a sign that counts cannot be read, so it is taken for work"
        )}
      </Box>
    </>
  );
}

function Seen({ signal: { last_at, unavailable } }: { signal: Signal }) {
  if (last_at) {
    return (
      <span>
        last work <Ago at={last_at} />
      </span>
    );
  }
  return <Box color="text-body-secondary">{unavailable || "no work seen yet"}</Box>;
}
