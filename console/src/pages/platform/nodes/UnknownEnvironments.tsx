import Alert from "@cloudscape-design/components/alert";
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import FormField from "@cloudscape-design/components/form-field";
import Input from "@cloudscape-design/components/input";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useState } from "react";
import type { Node } from "../../../api/queries/nodes";
import {
  type UnknownEnvironment,
  useAdoptEnvironment,
  useRemoveEnvironment,
  useUnknownEnvironments,
} from "../../../api/queries/unknownEnvironments";
import { notify } from "../../../frame/notices";
import { Ago } from "../../../parts/Ago";
import { Copy } from "../../../parts/Copy";
import { type Column, DataTable } from "../../../parts/DataTable";
import { perHour } from "../../../parts/money";
import { View } from "../../../parts/View";
import { ActDialog } from "../ActDialog";

interface Act {
  verb: "adopt" | "remove";
  of: UnknownEnvironment;
}

/** Environments that the database does not know hold their devices until an operator adopts or removes them. */
export function UnknownEnvironments({ node }: { node: Node }) {
  const isWanted = node.unknown_environments.length > 0;
  const unknown = useUnknownEnvironments(node.id, isWanted);
  const [act, setAct] = useState<Act | null>(null);
  if (!isWanted) return null;
  return (
    <SpaceBetween size="s">
      <Alert type="warning" header="Unknown environments">
        This node runs environments that the database does not know, for example after a restore from a backup. They
        keep running, and their slots are not sold. Adopt an environment to restore its allocation, or remove it.
      </Alert>
      <View of={unknown} what="unknown environments">
        {(all) => (
          <DataTable
            id="unknown-environments"
            title="Unknown environments"
            what="environments"
            rows={all}
            rowId={({ environment_id }) => environment_id}
            columns={columns(setAct)}
            isPlain
            isWrapped
            isLastSticky
            empty={<Box textAlign="center">The database knows every environment.</Box>}
          />
        )}
      </View>
      {act?.verb === "adopt" && <AdoptDialog node={node} of={act.of} onClose={() => setAct(null)} />}
      {act?.verb === "remove" && <RemoveDialog node={node} of={act.of} onClose={() => setAct(null)} />}
    </SpaceBetween>
  );
}

function columns(onAct: (act: Act) => void): Column<UnknownEnvironment>[] {
  return [
    {
      id: "id",
      header: "Environment",
      minWidth: 180,
      cell: ({ environment_id }) => <Copy text={environment_id} what="the environment's id" />,
    },
    { id: "state", header: "State", cell: ({ state }) => state },
    { id: "slots", header: "Slots", cell: ({ slots }) => slots.join(", ") || "None" },
    { id: "record", header: "Record on the node", minWidth: 200, cell: (one) => <Ownership of={one} /> },
    { id: "seen", header: "First seen", cell: ({ first_seen_at }) => <Ago at={first_seen_at} /> },
    { id: "removal", header: "Removal", minWidth: 140, cell: removal },
    {
      id: "acts",
      header: "Actions",
      minWidth: 140,
      cell: (one) => (
        <SpaceBetween direction="horizontal" size="xs">
          <Button
            variant="inline-link"
            disabled={one.ownership === null}
            disabledReason="The node has no record of its owner."
            ariaLabel={`Adopt ${one.environment_id}`}
            onClick={() => onAct({ verb: "adopt", of: one })}
          >
            Adopt
          </Button>
          <Button
            variant="inline-link"
            ariaLabel={`Remove ${one.environment_id}`}
            onClick={() => onAct({ verb: "remove", of: one })}
          >
            Remove
          </Button>
        </SpaceBetween>
      ),
    },
  ];
}

function removal({ removal_note, removal_requested_at, removed_at }: UnknownEnvironment): string {
  if (removed_at) return "Removed";
  return removal_note || (removal_requested_at ? "Requested" : "–");
}

function Ownership({ of: { ownership } }: { of: UnknownEnvironment }) {
  if (ownership === null) return <>No record</>;
  return (
    <>
      {ownership.name}, {ownership.sku},{" "}
      {perHour({ amount_minor: ownership.price_minor_per_hour, currency: ownership.currency })}
      <Box variant="small" color="text-body-secondary" display="block">
        <span className="break-anywhere">
          Project {ownership.project_id}, holder {ownership.holder_id}
        </span>
      </Box>
    </>
  );
}

interface DialogProps {
  node: Node;
  of: UnknownEnvironment;
  onClose: () => void;
}

function AdoptDialog({ node, of, onClose }: DialogProps) {
  const adopt = useAdoptEnvironment(node.id);
  const name = of.ownership?.name ?? of.environment_id;
  return (
    <ActDialog
      title={`Adopt ${name}`}
      verb="Adopt"
      does="Restores the allocation from the record on the node: same project, holder, SKU, price, slots, port and host key."
      survives="Everything that runs in the environment, and its disk."
      isPending={adopt.isPending}
      error={adopt.error}
      onAct={(reason) =>
        adopt.mutate(
          { id: of.environment_id, reason },
          {
            onSuccess: () => {
              notify("success", `${name} is adopted`);
              onClose();
            },
          },
        )
      }
      onClose={onClose}
    />
  );
}

function RemoveDialog({ node, of, onClose }: DialogProps) {
  const remove = useRemoveEnvironment(node.id);
  const [typed, setTyped] = useState("");
  return (
    <ActDialog
      title="Remove the unknown environment"
      verb="Remove"
      does={`${node.name} destroys the environment and proves that nothing of it is left.`}
      lost="Everything that runs in it, and its disk. This cannot be undone."
      survives="Volumes."
      isReady={typed === of.environment_id}
      isPending={remove.isPending}
      error={remove.error}
      onAct={(reason) =>
        remove.mutate(
          { id: of.environment_id, reason },
          {
            onSuccess: () => {
              notify("success", "The removal is requested");
              onClose();
            },
          },
        )
      }
      onClose={onClose}
    >
      <FormField label={`Type ${of.environment_id} to confirm`}>
        <Input value={typed} spellcheck={false} onChange={({ detail }) => setTyped(detail.value)} />
      </FormField>
    </ActDialog>
  );
}
