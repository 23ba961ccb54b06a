import Alert from "@cloudscape-design/components/alert";
import Box from "@cloudscape-design/components/box";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useAllocationKeys } from "../../api/queries/access";
import type { Allocation } from "../../api/queries/allocations";
import { useMe } from "../../api/queries/session";
import { may } from "../../frame/permissions";
import { Ago, duration } from "../../parts/Ago";
import { View } from "../../parts/View";
import { GrantsCard } from "./access/GrantsCard";
import { KeysCard } from "./access/KeysCard";
import { rightsOf } from "./access/rights";
import { SessionsCard } from "./access/SessionsCard";
import { TerminalsCard } from "./access/TerminalsCard";
import "./access/access.css";

/** Who may enter a machine, who is in, and who was. */
export function AccessTab({ allocation }: { allocation: Allocation }) {
  return (
    <View of={useMe()} what="your account">
      {(me) => {
        const rights = rightsOf(allocation);
        const props = { allocation, rights, myId: me.user.id };
        return (
          <SpaceBetween size="l">
            <Lease allocation={allocation} />
            <KeysCard {...props} />
            <GrantsCard {...props} />
            <SessionsCard {...props} />
            <TerminalsCard allocation={allocation} mayRead={may(allocation, "recordings:read")} />
          </SpaceBetween>
        );
      }}
    </View>
  );
}

/** How long keys admit on a node that is cut off. */
function Lease({ allocation: { id, health_reasons = [] } }: { allocation: Allocation }) {
  const { lease_seconds = 0, holder_lease_seconds = 0 } = useAllocationKeys(id).data ?? {};
  const silent = health_reasons.find(({ code }) => code === "agent_silent");
  if (lease_seconds === 0) return null;
  const [granted, holders] = [duration(lease_seconds), duration(holder_lease_seconds)];
  if (silent === undefined) {
    return (
      <Box color="text-body-secondary">
        If the node of this machine loses its connection to the platform, the holder's keys admit for {holders} more,
        and all other keys for {granted}.
      </Box>
    );
  }
  return (
    <Alert type="warning" header="The node of this machine does not answer">
      The platform lost it <Ago at={silent.since} />. After that the holder's keys admit for {holders}, and all other
      keys for {granted}. Changes that you make here reach the node when it is back.
    </Alert>
  );
}
