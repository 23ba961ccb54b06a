import FormField from "@cloudscape-design/components/form-field";
import Multiselect, { type MultiselectProps } from "@cloudscape-design/components/multiselect";
import { useState } from "react";
import { type RuntimeBundle, useStageBundle } from "../../../api/queries/adminRuntimes";
import { useNodes } from "../../../api/queries/nodes";
import { notify } from "../../../frame/notices";
import { Dialog } from "../../../parts/Dialog";

interface Props {
  bundle: RuntimeBundle;
  onClose: () => void;
}

/** Beside what is there: staging disturbs no machine. */
export function StageDialog({ bundle, onClose }: Props) {
  const [chosen, setChosen] = useState<readonly MultiselectProps.Option[]>([]);
  const nodes = (useNodes().data ?? []).filter(({ intent }) => intent !== "retired" && intent !== "enrolling");
  const stage = useStageBundle(bundle.id);
  const onSuccess = ({ stagings }: { stagings: readonly unknown[] }) => {
    if (stagings.length === 0) notify("info", "It fits no active node", "Name nodes to read why one does not fit.");
    else notify("success", `${bundle.product_name} ${bundle.version} is being staged`, "Each node shows its phases.");
    onClose();
  };
  return (
    <Dialog
      title={`Stage ${bundle.product_name} ${bundle.version}`}
      confirm="Stage"
      onConfirm={() =>
        stage.mutate(
          chosen.flatMap(({ value }) => value ?? []),
          { onSuccess },
        )
      }
      onCancel={onClose}
      isPending={stage.isPending}
      error={stage.error}
    >
      <div>It is made ready on nodes, beside what is there. Machines that run are not disturbed.</div>
      <FormField label="Nodes" description="With none chosen, every active node that it fits.">
        <Multiselect
          selectedOptions={chosen}
          onChange={({ detail }) => setChosen(detail.selectedOptions)}
          options={nodes.map(({ id, name, region }) => ({ value: id, label: name, description: region }))}
          filteringType="auto"
          placeholder="Every node that it fits"
          empty="No node"
          deselectAriaLabel={({ label }) => `Leave out ${label}`}
          expandToViewport
        />
      </FormField>
    </Dialog>
  );
}
