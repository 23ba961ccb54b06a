import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import Modal from "@cloudscape-design/components/modal";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useState } from "react";
import { type SshKey, useRemoveSshKey, useSshKeys } from "../../api/queries/sshKeys";
import { notify } from "../../frame/notices";
import { AddKey } from "../../parts/AddKey";
import { Ago } from "../../parts/Ago";
import { Consequences } from "../../parts/Consequences";
import { Copy } from "../../parts/Copy";
import { type Column, DataTable } from "../../parts/DataTable";
import { Dialog } from "../../parts/Dialog";
import { Link } from "../../parts/Link";
import { Page } from "../../parts/Page";
import { View } from "../../parts/View";

const FILTERS = [
  { key: "title", propertyLabel: "Name", groupValuesLabel: "Names" },
  { key: "fingerprint", propertyLabel: "Fingerprint", groupValuesLabel: "Fingerprints" },
  { key: "type", propertyLabel: "Type", groupValuesLabel: "Types" },
];

export function SshKeysPage() {
  const keys = useSshKeys();
  const [isAdding, setIsAdding] = useState(false);
  const [removing, setRemoving] = useState<SshKey | null>(null);
  const add = (
    <Button variant="primary" onClick={() => setIsAdding(true)}>
      Add a key
    </Button>
  );
  return (
    <Page
      title="SSH keys"
      about="Your public keys open the machines you hold and those that are shared with you. The private half never leaves your computer."
    >
      <View of={keys} what="keys">
        {(rows) => (
          <DataTable
            id="ssh-keys"
            isLastSticky
            title="SSH keys"
            what="keys"
            rows={rows}
            rowId={({ id }) => id}
            columns={columns(setRemoving)}
            filters={FILTERS}
            sorted={{ by: "added", descending: true }}
            actions={add}
            empty={
              <Box textAlign="center" padding="l">
                <SpaceBetween size="s">
                  <Box variant="h3">No key yet</Box>
                  <Box>
                    Machines open to keys, not to passwords. Make one with <code>ssh-keygen -t ed25519</code>.
                  </Box>
                  {add}
                </SpaceBetween>
              </Box>
            }
          />
        )}
      </View>
      {isAdding && (
        <Modal visible header="Add a key" closeAriaLabel="Close" onDismiss={() => setIsAdding(false)}>
          <AddKey
            onCancel={() => setIsAdding(false)}
            onAdded={({ title }) => {
              setIsAdding(false);
              notify("success", `${title} is added`, "Choose it when you launch a machine, or add it to one you hold.");
            }}
          />
        </Modal>
      )}
      {removing && <RemoveDialog sshKey={removing} onClose={() => setRemoving(null)} />}
    </Page>
  );
}

function columns(onRemove: (key: SshKey) => void): Column<SshKey>[] {
  return [
    { id: "title", header: "Name", sortingField: "title", cell: ({ title }) => title },
    { id: "type", header: "Type", sortingField: "type", cell: ({ type }) => type.replace(/^ssh-/, "") },
    {
      id: "fingerprint",
      header: "Fingerprint",
      cell: ({ fingerprint }) => <Copy text={fingerprint} what="fingerprint" />,
    },
    { id: "opens", header: "Opens", cell: ({ opens = [] }) => <Opens machines={opens} /> },
    { id: "added", header: "Added", sortingField: "created_at", cell: ({ created_at }) => <Ago at={created_at} /> },
    {
      id: "actions",
      header: "Actions",
      cell: (key) => (
        <Button variant="inline-link" ariaLabel={`Delete ${key.title}`} onClick={() => onRemove(key)}>
          Delete
        </Button>
      ),
    },
  ];
}

function Opens({ machines }: { machines: NonNullable<SshKey["opens"]> }) {
  if (machines.length === 0) return <Box color="text-status-inactive">No machine now</Box>;
  return (
    <>
      {machines.map(({ allocation_id, project_id, name }, index) => (
        <span key={allocation_id}>
          {index > 0 && ", "}
          <Link to={`/projects/${project_id}/allocations/${allocation_id}`}>{name}</Link>
        </span>
      ))}
    </>
  );
}

function RemoveDialog({
  sshKey: { id, title, fingerprint, opens = [] },
  onClose,
}: {
  sshKey: SshKey;
  onClose: () => void;
}) {
  const remove = useRemoveSshKey();
  const done = () => {
    notify("success", `${title} is deleted`);
    onClose();
  };
  return (
    <Dialog
      title={`Delete ${title}?`}
      confirm="Delete"
      onConfirm={() => remove.mutate(id, { onSuccess: done })}
      onCancel={onClose}
      isPending={remove.isPending}
      error={remove.error}
    >
      <Box>
        <code className="break-anywhere">{fingerprint}</code>
      </Box>
      <Consequences
        lost={
          opens.length === 0 ? (
            "Nothing: it opens no machine now."
          ) : (
            <>
              Its way into <Opens machines={opens} />: new logins are refused, and open sessions of this key are cut
              within seconds. Without another key there you cannot get in by SSH.
            </>
          )
        }
        stays="The machines and all that runs on them, your other keys, and the key files on your computer."
      />
    </Dialog>
  );
}
