import Box from "@cloudscape-design/components/box";
import SpaceBetween from "@cloudscape-design/components/space-between";
import type { Node } from "../../../api/queries/nodes";
import type { Sku } from "../../../api/queries/skus";
import { byFamily, FACE_ORDER, type FamilyCapacity, inWords, total } from "./faces";
import "./fleet.css";

interface Props {
  nodes: readonly Node[];
  skus: readonly Sku[];
}

/** Slots by GPU family as one bar each, and what could be sold of it now, SKU by SKU. */
export function FamilyBars({ nodes, skus }: Props) {
  return (
    <SpaceBetween size="l">
      {byFamily(nodes).map((of) => (
        <Family key={of.family} of={of} skus={skus.filter(({ gpu_family }) => gpu_family === of.family)} />
      ))}
    </SpaceBetween>
  );
}

function Family({ of, skus }: { of: FamilyCapacity; skus: readonly Sku[] }) {
  const slots = total(of.counts);
  return (
    <section aria-label={of.family}>
      <Box variant="h3">
        {of.family}{" "}
        <Box variant="small">
          {slots} {slots === 1 ? "slot" : "slots"} on {of.nodes} {of.nodes === 1 ? "node" : "nodes"}
        </Box>
      </Box>
      <div className="slots slot-bar" role="img" aria-label={`${of.family}: ${inWords(of.counts)}`}>
        {FACE_ORDER.filter((face) => of.counts[face] > 0).map((face) => (
          <span key={face} className="slot" data-face={face} style={{ flexGrow: of.counts[face] }} />
        ))}
      </div>
      <div>{inWords(of.counts)}</div>
      {skus.map((sku) => (
        <Box key={sku.sku} variant="small" color="text-body-secondary" display="block">
          <code>{sku.sku}</code>: {availableNow(sku)}
        </Box>
      ))}
    </section>
  );
}

/** "local: 7 of 1 GPU, 3 of 2 GPUs": each figure on its own, since taking one lowers the others. */
function availableNow({ availability = [] }: Pick<Sku, "availability">): string {
  const regions = new Map<string, string[]>();
  for (const { region, gpu_count, free } of availability) {
    if (free === 0) continue;
    regions.set(region, [...(regions.get(region) ?? []), `${free} × ${gpu_count} ${gpu_count === 1 ? "GPU" : "GPUs"}`]);
  }
  const said = [...regions].map(([region, counts]) => `${counts.join(" or ")} in ${region}`);
  return said.length > 0 ? `available now: ${said.join("; ")}` : "none available now";
}
