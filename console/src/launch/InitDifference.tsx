import Box from "@cloudscape-design/components/box";
import ColumnLayout from "@cloudscape-design/components/column-layout";
import ExpandableSection from "@cloudscape-design/components/expandable-section";
import type { Sku } from "../api/queries/skus";
import { capabilityWords, nestingWords } from "../parts/confinementWords";

const USE = {
  plain: "A small init. Programs run under your shell or your own supervisor.",
  systemd: "systemd is pid 1: services, timers, journald, and containers inside with Podman.",
};

/** How the inits differ in isolation: not a promise, but what all nodes read from the kernel of a running environment. */
export function InitDifference({ sku: { confinement = {}, confinement_differs: differs = [] } }: { sku: Sku }) {
  return (
    <ExpandableSection headerText="What the init changes" defaultExpanded>
      <ColumnLayout columns={2} variant="text-grid">
        {(["plain", "systemd"] as const).map((init) => {
          const found = confinement[init];
          return (
            <div key={init}>
              <Box variant="awsui-key-label">Init {init}</Box>
              <div>{USE[init]}</div>
              {found ? (
                <Box variant="small" color="text-body-secondary">
                  Read from the kernel of an environment. Seccomp mode: {found.seccomp || "not read"};{" "}
                  {found.namespaces.length} own namespaces; {nestingWords(found)}; {capabilityWords(found)}.
                </Box>
              ) : (
                <Box variant="small" color="text-body-secondary">
                  {differs.includes(init)
                    ? "Isolation with this init is not the same on all nodes. Each allocation shows its own."
                    : "No environment with this init has run yet, so nothing was read from the kernel."}
                </Box>
              )}
            </div>
          );
        })}
      </ColumnLayout>
    </ExpandableSection>
  );
}
