import Alert from "@cloudscape-design/components/alert";
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import Container from "@cloudscape-design/components/container";
import Header from "@cloudscape-design/components/header";
import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import SpaceBetween from "@cloudscape-design/components/space-between";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import { useState } from "react";
import { asProblem } from "../../../api/problem";
import { useVerification, type Verified } from "../../../api/queries/audit";
import { Ago } from "../../../parts/Ago";
import { Copy } from "../../../parts/Copy";
import { Page } from "../../../parts/Page";
import { ProblemAlert } from "../../../parts/ProblemAlert";
import { AuditLog } from "../../activity/AuditLog";
import { plainTarget } from "../../activity/words";
import { PLATFORM } from "../paths";

/** The log of everything, and whether its hash chain holds. */
export function PlatformAuditPage() {
  return (
    <Page
      title="Audit log of the platform"
      about="Who did what on the platform, or was refused: sign-ins, tokens, operators, nodes and all projects. Signed seals form a hash chain over the rows, so that a changed or removed row is found."
      crumbs={[PLATFORM]}
    >
      <SpaceBetween size="l">
        <Chain />
        <AuditLog log={{ of: "platform" }} targetOf={plainTarget} />
      </SpaceBetween>
    </Page>
  );
}

function Chain() {
  const [rows, setRows] = useState(0);
  const verification = useVerification(setRows);
  const { data, error, isFetching, refetch } = verification;
  const again = (
    <Button loading={isFetching} loadingText={`${rows.toLocaleString()} rows verified`} onClick={() => void refetch()}>
      Verify again
    </Button>
  );
  return (
    <Container
      header={
        <Header
          variant="h2"
          actions={again}
          description="The server verifies its own log here. For a check that does not trust the server, run gpuaas admin audit verify with an earlier export."
        >
          Hash chain
        </Header>
      }
    >
      {data === undefined && error && <ProblemAlert problem={asProblem(error)} onRetry={() => void refetch()} />}
      {data === undefined && !error && (
        <StatusIndicator type="in-progress">Verifying: {rows.toLocaleString()} rows so far</StatusIndicator>
      )}
      {data && <Result verified={data} at={verification.dataUpdatedAt} />}
    </Container>
  );
}

function Result({ verified: { rows, seals, errors, notes, head }, at }: { verified: Verified; at: number }) {
  return (
    <SpaceBetween size="m">
      {errors.length > 0 && (
        <Alert type="error" header="The audit log does not verify">
          <Lines of={errors} />
          Keep earlier exports and the server's log: compare them with a new export to see what was changed.
        </Alert>
      )}
      {notes.length > 0 && (
        <Alert type="warning" header="The database failed over or was restored">
          <Lines of={notes} />
        </Alert>
      )}
      <KeyValuePairs
        columns={4}
        items={[
          {
            label: "Result",
            value:
              errors.length > 0 ? (
                <StatusIndicator type="error">Does not verify</StatusIndicator>
              ) : (
                <StatusIndicator>Verified</StatusIndicator>
              ),
          },
          { label: "Checked", value: <Ago at={new Date(at).toISOString()} /> },
          { label: "Sealed rows", value: `${rows.toLocaleString()} under ${seals.toLocaleString()} seals` },
          { label: "Last seal", value: head ? <Head number={head.number} hash={head.hash} /> : "None yet" },
        ]}
      />
    </SpaceBetween>
  );
}

function Head({ number, hash }: { number: number; hash: string }) {
  return (
    <>
      {number}
      <Box variant="small" display="block">
        <span className="break-anywhere">
          <Copy text={hash} what="hash of the last seal" />
        </span>
      </Box>
    </>
  );
}

const MOST_LINES = 20;

function Lines({ of }: { of: readonly string[] }) {
  return (
    <ul className="plain-list">
      {of.slice(0, MOST_LINES).map((line) => (
        <li key={line}>{line}</li>
      ))}
      {of.length > MOST_LINES && <li>And {of.length - MOST_LINES} more.</li>}
    </ul>
  );
}
