import Alert from "@cloudscape-design/components/alert";
import Button from "@cloudscape-design/components/button";
import Container from "@cloudscape-design/components/container";
import Header from "@cloudscape-design/components/header";
import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useState } from "react";
import { useParams } from "react-router";
import { type Account, useAccount } from "../../../api/queries/accounts";
import { Ago } from "../../../parts/Ago";
import { Copy } from "../../../parts/Copy";
import { Link } from "../../../parts/Link";
import { Page } from "../../../parts/Page";
import { View } from "../../../parts/View";
import { PLATFORM } from "../paths";
import { AccountState } from "./AccountsPage";
import { addressOf, KINDS, PLURALS } from "./kinds";
import { Limits } from "./Limits";
import { SuspendDialog } from "./SuspendDialog";

/** One tenant, project or person: its suspension and its limits. */
export function AccountPage() {
  const { kind: plural = "", id = "" } = useParams();
  const kind = PLURALS[plural] ?? "tenant";
  const seen = useAccount(kind, id);
  const [isAsking, setIsAsking] = useState(false);
  const isSuspended = Boolean(seen.data?.suspended_at);
  return (
    <Page
      title={seen.data?.name ?? id}
      about="Suspending refuses new work and closes connections, and it can be undone; nothing is deleted. Limits say how much this account may have at once."
      crumbs={[PLATFORM, { text: KINDS[kind].many, href: addressOf(kind) }]}
      actions={seen.data && <Button onClick={() => setIsAsking(true)}>{isSuspended ? "Resume" : "Suspend"}</Button>}
    >
      <View of={seen} what={`details of the ${KINDS[kind].one}`}>
        {(account) => (
          <SpaceBetween size="l">
            {isSuspended && <Suspended account={account} />}
            <Facts account={account} />
            <Limits of={{ kind, id }} name={account.name} />
            {isAsking && <SuspendDialog account={account} onClose={() => setIsAsking(false)} />}
          </SpaceBetween>
        )}
      </View>
    </Page>
  );
}

function Suspended({ account: { kind, suspended_at, suspension_reason } }: { account: Account }) {
  return (
    <Alert type="warning" header={`This ${KINDS[kind].one} is suspended`}>
      Since {suspended_at && <Ago at={suspended_at} />}. Reason: {suspension_reason || "none was given"}. Allocations
      keep running, and all data is kept. Resume it to let people work again.
    </Alert>
  );
}

function Facts({ account }: { account: Account }) {
  const { kind, id, created_at, tenant_id, facts } = account;
  const tenant = tenant_id
    ? [{ label: "Tenant", value: <Link to={addressOf("tenant", tenant_id)}>{facts[0]?.value}</Link> }]
    : [];
  const projects =
    kind === "tenant"
      ? [{ label: "Its projects", value: <Link to={`${addressOf("project")}?tenant=${id}`}>Show projects</Link> }]
      : [];
  return (
    <Container header={<Header variant="h2">Details</Header>}>
      <KeyValuePairs
        columns={4}
        items={[
          { label: "State", value: <AccountState account={account} /> },
          { label: "Id", value: <Copy text={id} what="the id" /> },
          { label: "Created", value: <Ago at={created_at} /> },
          ...tenant,
          ...facts.filter(({ label }) => label !== "Tenant"),
          ...projects,
          {
            label: "Audit log",
            value: <Link to={`/platform/audit?${kind === "user" ? "actor" : "target"}=${id}`}>Show its rows</Link>,
          },
        ]}
      />
    </Container>
  );
}
