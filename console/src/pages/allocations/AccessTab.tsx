import Alert from "@cloudscape-design/components/alert";
import Box from "@cloudscape-design/components/box";
import SpaceBetween from "@cloudscape-design/components/space-between";
import type { Allocation } from "../../api/queries/allocations";
import { useMe } from "../../api/queries/session";
import { Ago } from "../../parts/Ago";
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
        const rights = rightsOf(me, allocation);
        const props = { allocation, rights, myId: me.user.id };
        return (
          <SpaceBetween size="l">
            <Lease allocation={allocation} />
            <KeysCard {...props} />
            <GrantsCard {...props} />
            <SessionsCard {...props} />
            <TerminalsCard allocation={allocation} mayRead={rights.decides} />
          </SpaceBetween>
        );
      }}
    </View>
  );
}

/** Granted keys admit only while the node hears from us; the holder's own always do. */
function Lease({ allocation: { health_reasons = [] } }: { allocation: Allocation }) {
  const silent = health_reasons.find(({ code }) => code === "agent_silent");
  if (silent === undefined) {
    return (
      <Box color="text-body-secondary">
        Granted keys open the machine while its node hears from us, renewed each minute. If it is cut off they stop
        within five minutes; the holder's own keys go on working.
      </Box>
    );
  }
  return (
    <Alert type="warning" header="The node of this machine does not answer">
      It fell silent <Ago at={silent.since} />. Five minutes after that granted keys no longer open the machine; the
      holder's own keys still do, if it runs. What you change here reaches it when the node is back.
    </Alert>
  );
}
