import Alert from "@cloudscape-design/components/alert";
import Button from "@cloudscape-design/components/button";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { type Sku, useSkus } from "../api/queries/skus";
import { blockedWords, KINDS, offersFor, type Refusal } from "./refusal";
import type { StepProps } from "./step";

/** Why not, and what would fit: each a button that fills it in. */
export function RefusalAlert({ refusal, choice, change }: Pick<StepProps, "choice" | "change"> & { refusal: Refusal }) {
  const skus: readonly Sku[] = useSkus().data ?? [];
  const offers = offersFor(refusal, choice, skus);
  const blocked = blockedWords(refusal.blocked);
  return (
    <Alert type="warning" header={refusal.kind ? KINDS[refusal.kind] : "No machine like this is free"}>
      <SpaceBetween size="xs">
        <div>{refusal.detail}</div>
        {blocked.length > 0 && <div>Not for sale now: {blocked.join("; ")}.</div>}
        {offers.length > 0 ? (
          <>
            <div>This would fit now:</div>
            <SpaceBetween direction="horizontal" size="xs">
              {offers.map((offer) => (
                <Button key={offer.id} onClick={() => change(offer.patch)}>
                  {offer.label}
                </Button>
              ))}
            </SpaceBetween>
          </>
        ) : (
          <div>Nothing else is free either. This page looks again every few seconds; your choices are kept.</div>
        )}
      </SpaceBetween>
    </Alert>
  );
}
