import Box from "@cloudscape-design/components/box";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useState } from "react";
import type { Allocation } from "../../api/queries/allocations";
import { useAllocationRuntime, useRuntimeBundles } from "../../api/queries/runtimes";
import { may } from "../../frame/permissions";
import { View } from "../../parts/View";
import { type Choice, RuntimeDialog } from "./RuntimeDialog";
import { RuntimeNow } from "./RuntimeNow";
import { RuntimeOffers } from "./RuntimeOffers";

const OVER = ["released", "failed", "releasing", "release_failed"];

export function RuntimeTab({ allocation }: { allocation: Allocation }) {
  const [open, setOpen] = useState<Choice | null>(null);
  const runtime = useAllocationRuntime(allocation.id);
  const bundles = useRuntimeBundles({ allocationId: allocation.id });
  const isOver = OVER.includes(allocation.status);
  const mayApply = may(allocation, "runtimes:apply");
  return (
    <View of={runtime} what="runtime">
      {(seen) => (
        <SpaceBetween size="l">
          <RuntimeNow runtime={seen} bundles={bundles.data ?? []} canChange={mayApply && !isOver} onOpen={setOpen} />
          {!isOver && (
            <View of={bundles} what="bundles">
              {(offered) => <RuntimeOffers bundles={offered} runtime={seen} canChange={mayApply} onOpen={setOpen} />}
            </View>
          )}
          <Box variant="small" color="text-body-secondary">
            {seen.statement}
          </Box>
          {open && <RuntimeDialog allocation={allocation} runtime={seen} choice={open} onClose={() => setOpen(null)} />}
        </SpaceBetween>
      )}
    </View>
  );
}
