import Badge from "@cloudscape-design/components/badge";
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import { useState } from "react";
import { type Session, useEndSignIns, useSignIns } from "../../api/queries/session";
import { notify } from "../../frame/notices";
import { Ago, Until } from "../../parts/Ago";
import { Consequences } from "../../parts/Consequences";
import { type Column, DataTable } from "../../parts/DataTable";
import { Dialog } from "../../parts/Dialog";
import { Page } from "../../parts/Page";
import { View } from "../../parts/View";
import { describeDevice } from "./device";

const FILTERS = [
  { key: "device", propertyLabel: "Device", groupValuesLabel: "Devices" },
  { key: "address", propertyLabel: "Address", groupValuesLabel: "Addresses" },
];

export function SessionsPage() {
  const sessions = useSignIns();
  const [ending, setEnding] = useState<readonly Session[]>([]);
  const others = (sessions.data ?? []).filter(({ current }) => !current);
  return (
    <Page
      title="Sessions"
      about="Where you are signed in, by browser and by command. A session lasts 30 days; signing out elsewhere takes effect at once."
    >
      <View of={sessions} what="sessions">
        {(rows) => (
          <DataTable
            id="sessions"
            isLastSticky
            title="Sessions"
            what="sessions"
            rows={rows}
            rowId={({ id }) => id}
            columns={columns((session) => setEnding([session]))}
            filters={FILTERS}
            sorted={{ by: "since", descending: true }}
            empty={<Box textAlign="center">You are signed in nowhere.</Box>}
            actions={
              <Button disabled={others.length === 0} onClick={() => setEnding(others)}>
                Sign out everywhere else
              </Button>
            }
          />
        )}
      </View>
      {ending.length > 0 && <EndDialog sessions={ending} onClose={() => setEnding([])} />}
    </Page>
  );
}

function columns(onEnd: (session: Session) => void): Column<Session>[] {
  return [
    {
      id: "device",
      header: "Device",
      sortingField: "device",
      cell: ({ device, current }) => (
        <span title={device}>
          {describeDevice(device)} {current && <Badge color="green">This one</Badge>}
        </span>
      ),
    },
    { id: "address", header: "Address", sortingField: "address", cell: ({ address }) => address || "Not told" },
    { id: "since", header: "Signed in", sortingField: "created_at", cell: ({ created_at }) => <Ago at={created_at} /> },
    { id: "until", header: "Ends", sortingField: "expires_at", cell: ({ expires_at }) => <Until at={expires_at} /> },
    {
      id: "actions",
      header: "Actions",
      cell: (session) =>
        !session.current && (
          <Button
            variant="inline-link"
            ariaLabel={`Sign out ${describeDevice(session.device)} at ${session.address}`}
            onClick={() => onEnd(session)}
          >
            Sign out
          </Button>
        ),
    },
  ];
}

function EndDialog({ sessions, onClose }: { sessions: readonly Session[]; onClose: () => void }) {
  const end = useEndSignIns();
  const [one] = sessions;
  const where = sessions.length === 1 && one ? describeDevice(one.device) : `${sessions.length} other sessions`;
  const done = () => {
    notify("success", `${where}: signed out`);
    onClose();
  };
  return (
    <Dialog
      title={`Sign out ${where}?`}
      confirm="Sign out"
      onConfirm={() =>
        end.mutate(
          sessions.map(({ id }) => id),
          { onSuccess: done },
        )
      }
      onCancel={onClose}
      isPending={end.isPending}
      error={end.error}
    >
      <Consequences
        lost="The session: whoever uses it is asked to sign in again."
        stays="This session, your tokens, SSH keys, and everything that runs on your machines."
      />
    </Dialog>
  );
}
