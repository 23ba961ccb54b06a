import Alert from "@cloudscape-design/components/alert";
import Box from "@cloudscape-design/components/box";
import SpaceBetween from "@cloudscape-design/components/space-between";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import { type Invariant, useInvariants, type Violation } from "../../../api/queries/invariants";
import { Ago } from "../../../parts/Ago";
import { Copy } from "../../../parts/Copy";
import { type Column, DataTable } from "../../../parts/DataTable";
import { Page } from "../../../parts/Page";
import { View } from "../../../parts/View";
import { PLATFORM } from "../paths";
import { Seen } from "../Seen";

const CHECKS: readonly Column<Invariant>[] = [
  { id: "kind", header: "Invariant", sortingField: "kind", cell: ({ kind }) => kind.replaceAll("_", " ") },
  { id: "state", header: "State", minWidth: 120, cell: (invariant) => <State invariant={invariant} /> },
  { id: "about", header: "What holds", cell: ({ about }) => about },
  { id: "checked", header: "Last check", cell: ({ looked_at }) => (looked_at ? <Ago at={looked_at} /> : "Never") },
  {
    id: "took",
    header: "Duration",
    cell: ({ seconds }) => (seconds === null ? "–" : `${Math.round(1_000 * seconds)} ms`),
  },
];

const VIOLATIONS: readonly Column<Violation>[] = [
  { id: "kind", header: "Invariant", sortingField: "kind", cell: ({ kind }) => kind.replaceAll("_", " ") },
  { id: "subject", header: "Object", cell: ({ subject }) => <Copy text={subject} what="the object's id" /> },
  { id: "detail", header: "Detail", cell: ({ detail }) => detail },
  {
    id: "since",
    header: "Since",
    sortingField: "first_seen_at",
    cell: ({ first_seen_at }) => <Ago at={first_seen_at} />,
  },
  { id: "looks", header: "Checks", sortingField: "looks", cell: ({ looks }) => looks },
];

/** What must always hold, and where it does not. */
export function InvariantsPage() {
  const invariants = useInvariants();
  return (
    <Page
      title="Invariants"
      about="A worker checks on the running system what must always hold. A violation is listed once two checks in a row found it, and until a check no longer finds it."
      crumbs={[PLATFORM]}
      description={<Seen of={invariants} />}
    >
      <View of={invariants} what="invariants">
        {(all) => <Found all={all} />}
      </View>
    </Page>
  );
}

function Found({ all }: { all: readonly Invariant[] }) {
  const violations = all.flatMap((each) => each.violations);
  return (
    <SpaceBetween size="l">
      {violations.length > 0 && (
        <Alert type="error" header={`${violations.length} ${violations.length === 1 ? "violation" : "violations"}`}>
          Follow the runbook “invariants” before you change anything by hand.
        </Alert>
      )}
      <DataTable
        id="violations"
        title="Violations"
        what="violations"
        rows={violations}
        rowId={({ kind, subject }) => `${kind} ${subject}`}
        columns={VIOLATIONS}
        isPlain
        isWrapped
        empty={<Box textAlign="center">No violations.</Box>}
      />
      <DataTable
        id="invariants"
        title="Checks"
        what="invariants"
        rows={all}
        rowId={({ kind }) => kind}
        columns={CHECKS}
        isPlain
        isWrapped
        empty={<Box textAlign="center">This server checks no invariants.</Box>}
      />
    </SpaceBetween>
  );
}

function State({ invariant: { looked_at, violations } }: { invariant: Invariant }) {
  if (violations.length > 0) return <StatusIndicator type="error">Violated</StatusIndicator>;
  if (looked_at === null) return <StatusIndicator type="pending">Not checked yet</StatusIndicator>;
  return <StatusIndicator>Holds</StatusIndicator>;
}
