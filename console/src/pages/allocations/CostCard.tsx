import Box from "@cloudscape-design/components/box";
import Container from "@cloudscape-design/components/container";
import Header from "@cloudscape-design/components/header";
import SpaceBetween from "@cloudscape-design/components/space-between";
import type { Allocation } from "../../api/queries/allocations";
import { Ago, duration, useNow } from "../../parts/Ago";
import { growingMoney, perHour } from "../../parts/money";
import { costSoFar } from "./cost";

/** What it has cost so far, growing while it does. */
export function CostCard({ allocation }: { allocation: Allocation }) {
  const { price_per_hour, resize } = allocation;
  const { amountMinor, seconds } = costSoFar(allocation, useNow());
  return (
    <Container
      header={
        <Header description="An estimate, not an invoice: the sum of all sizes, each for the time it ran.">
          Cost so far
        </Header>
      }
    >
      <SpaceBetween size="s">
        <Box variant="awsui-value-large">
          <span className="figure">{growingMoney(amountMinor, price_per_hour.currency)}</span>
        </Box>
        <Box>
          {duration(seconds)} so far; now {perHour(price_per_hour)}
        </Box>
        <BillingWords allocation={allocation} />
        {resize && (
          <Box color="text-body-secondary">{perHour(resize.price_per_hour)} once the new size is in force.</Box>
        )}
      </SpaceBetween>
    </Container>
  );
}

function BillingWords({ allocation: { billing, status } }: { allocation: Allocation }) {
  if (billing.state === "not_started") {
    return (
      <Box color="text-body-secondary">
        {status === "failed" || status === "released"
          ? "Billing never began."
          : "Billing begins when the machine is active."}
      </Box>
    );
  }
  const at = billing.state === "stopped" ? billing.stopped_at : billing.started_at;
  return (
    <Box color="text-body-secondary">
      Billing {billing.state === "stopped" ? "stopped" : "began"} {at && <Ago at={at} />}.
    </Box>
  );
}
