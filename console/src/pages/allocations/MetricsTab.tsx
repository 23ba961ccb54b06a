import Alert from "@cloudscape-design/components/alert";
import Box from "@cloudscape-design/components/box";
import Container from "@cloudscape-design/components/container";
import Header from "@cloudscape-design/components/header";
import SegmentedControl from "@cloudscape-design/components/segmented-control";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useSearchParams } from "react-router";
import type { Allocation } from "../../api/queries/allocations";
import { type Metrics, useMetrics } from "../../api/queries/metrics";
import { Ago, duration } from "../../parts/Ago";
import { HEALTH, Label } from "../../parts/StatusLabel";
import { View } from "../../parts/View";
import { ChartCard } from "./metrics/ChartCard";
import { chartsOf, framed, isMeasured, unmeasured } from "./metrics/charts";
import "./metrics/metrics.css";

const RANGES: Record<string, { text: string; seconds: number }> = {
  "1h": { text: "1 hour", seconds: 3_600 },
  "1d": { text: "24 hours", seconds: 86_400 },
};
const SHORTEST = "1h";

/** What a machine uses and how it is: each reading with its source and age, or why there is none. */
export function MetricsTab({ allocation }: { allocation: Allocation }) {
  const [params, setParams] = useSearchParams();
  const range = params.get("range") ?? "";
  const chosen = range in RANGES ? range : SHORTEST;
  const metrics = useMetrics(allocation.id, chosen);
  return (
    <SpaceBetween size="l">
      <HealthCard allocation={allocation} />
      <Header
        variant="h2"
        description={metrics.data && <Sampled metrics={metrics.data} />}
        actions={
          <SegmentedControl
            label="How far back"
            selectedId={chosen}
            onChange={({ detail }) => setParams({ range: detail.selectedId }, { replace: true })}
            options={Object.entries(RANGES).map(([id, { text }]) => ({ id, text }))}
          />
        }
      >
        Metrics
      </Header>
      <View
        of={metrics}
        what="metrics"
        isEmpty={({ series }) => series.length === 0}
        empty={
          <Box textAlign="center" padding="l">
            <Box variant="h3">Nothing measured yet</Box>
            <Box>
              {allocation.active_at
                ? "The first sample comes within ten seconds."
                : "Measuring begins when it is active."}
            </Box>
          </Box>
        }
      >
        {(seen) => <Charts metrics={seen} />}
      </View>
    </SpaceBetween>
  );
}

function Charts({ metrics }: { metrics: Metrics }) {
  const frame = framed(metrics, RANGES[metrics.range]?.seconds ?? 3_600);
  const charts = chartsOf(metrics);
  const missing = unmeasured(charts.filter((chart) => !isMeasured(chart)));
  return (
    <SpaceBetween size="l">
      <div className="charts">
        {charts.filter(isMeasured).map((chart) => (
          <ChartCard key={chart.id} chart={chart} metrics={metrics} frame={frame} />
        ))}
      </div>
      {missing.length > 0 && (
        <Container header={<Header variant="h3">Not measured</Header>}>
          {missing.map(({ why, titles }) => (
            <div key={why}>
              <strong>{titles.join(", ")}</strong>: {why}
            </div>
          ))}
        </Container>
      )}
    </SpaceBetween>
  );
}

function Sampled({ metrics: { sampled_at, step_seconds, unavailable } }: { metrics: Metrics }) {
  if (unavailable) return <>{unavailable}</>;
  if (sampled_at === null) return null;
  return (
    <>
      Measured <Ago at={sampled_at} />, one point each {duration(step_seconds)}
    </>
  );
}

/** Only what was observed, worst first. */
function HealthCard({ allocation: { health, health_reasons = [] } }: { allocation: Allocation }) {
  return (
    <Container header={<Header variant="h2">Health</Header>}>
      <SpaceBetween size="s">
        <Label look={HEALTH[health]} />
        {health === "ok" && <Box color="text-body-secondary">Nothing that was observed speaks against it.</Box>}
        {health_reasons.map(({ code, words, since, next_step }) => (
          <Alert key={code + since} type={code === "agent_silent" ? "error" : "warning"} header={words}>
            {next_step}{" "}
            <Box variant="span" color="text-body-secondary">
              Since <Ago at={since} />.
            </Box>
          </Alert>
        ))}
      </SpaceBetween>
    </Container>
  );
}
