import Box from "@cloudscape-design/components/box";
import ExpandableSection from "@cloudscape-design/components/expandable-section";
import Link from "@cloudscape-design/components/link";
import type { Allocation } from "../../../api/queries/allocations";
import { usePerson } from "../../../api/queries/members";
import { recordingAddress, type Terminal, useTerminals } from "../../../api/queries/terminals";
import { Ago, duration } from "../../../parts/Ago";
import { bytes } from "../../../parts/bytes";
import { type Column, DataTable } from "../../../parts/DataTable";
import { View } from "../../../parts/View";

/** Every terminal that was opened on it in a browser, with its recording where there is one. */
export function TerminalsCard({ allocation, mayRead }: { allocation: Allocation; mayRead: boolean }) {
  const terminals = useTerminals(allocation.id);
  const person = usePerson(allocation.project_id);
  return (
    <ExpandableSection variant="footer" headerText="Terminals opened in a browser">
      <View of={terminals} what="terminals">
        {(rows) => (
          <DataTable
            id="terminals"
            title="Terminals"
            what="terminals"
            rows={rows}
            rowId={(terminal) => terminal.id}
            columns={columnsFor(person, mayRead)}
            isPlain
            sorted={{ by: "opened", descending: true }}
            empty={<Box textAlign="center">Nobody opened one yet.</Box>}
          />
        )}
      </View>
    </ExpandableSection>
  );
}

function columnsFor(person: (userId: string) => string, mayRead: boolean): readonly Column<Terminal>[] {
  return [
    { id: "opened", header: "Opened", sortingField: "opened_at", cell: (row) => <Ago at={row.opened_at} /> },
    { id: "person", header: "Person", sortingField: "user_id", cell: (row) => person(row.user_id) },
    { id: "source", header: "From", sortingField: "source", cell: (row) => row.source },
    {
      id: "lasted",
      header: "Lasted",
      cell: (row) => (row.closed_at ? duration(seconds(row.opened_at, row.closed_at)) : "Open"),
    },
    {
      id: "reason",
      header: "Why it ended",
      sortingField: "reason",
      cell: (row) => row.reason || (row.closed_at ? "" : "Open"),
    },
    {
      id: "recording",
      header: "Recording",
      cell: (row) => {
        if (!row.recorded) return "None";
        if (!mayRead) return bytes(row.recorded_bytes);
        return (
          <Link href={recordingAddress(row)} target="_blank" external externalIconAriaLabel="Downloads in a new tab">
            Download ({bytes(row.recorded_bytes)})
          </Link>
        );
      },
    },
  ];
}

function seconds(from: string, to: string): number {
  return (Date.parse(to) - Date.parse(from)) / 1_000;
}
