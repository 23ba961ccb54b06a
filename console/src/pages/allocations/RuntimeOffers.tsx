import Badge from "@cloudscape-design/components/badge";
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import Cards from "@cloudscape-design/components/cards";
import Header from "@cloudscape-design/components/header";
import SpaceBetween from "@cloudscape-design/components/space-between";
import StatusIndicator, { type StatusIndicatorProps } from "@cloudscape-design/components/status-indicator";
import type { AllocationRuntime, RuntimeBundle } from "../../api/queries/runtimes";
import { about, fits } from "../../launch/bundles";
import { sentence } from "../../parts/words";
import type { Choice } from "./RuntimeDialog";

interface Props {
  bundles: readonly RuntimeBundle[];
  runtime: AllocationRuntime;
  canChange: boolean;
  onOpen: (choice: Choice) => void;
}

/** Every version on offer; one that does not fit says why instead of hiding. */
export function RuntimeOffers({ bundles, runtime, canChange, onOpen }: Props) {
  return (
    <div>
      <Box padding={{ bottom: "s" }}>
        <Header
          variant="h2"
          counter={`(${bundles.length})`}
          description="Applying one needs no restart, and changes no file of yours. What runs keeps the version it began with."
        >
          Bundles
        </Header>
      </Box>
      <Cards<RuntimeBundle>
        items={bundles}
        trackBy="id"
        cardsPerRow={[{ cards: 1 }, { minWidth: 520, cards: 2 }, { minWidth: 900, cards: 3 }]}
        ariaLabels={{ itemSelectionLabel: (_, { product_name }) => product_name, selectionGroupLabel: "Bundles" }}
        cardDefinition={{
          header: (bundle) => (
            <SpaceBetween direction="horizontal" size="xs" alignItems="center">
              <Box variant="h3" tagOverride="span">
                {bundle.product_name}
              </Box>
              {bundle.id === runtime.bundle?.id && <Badge color="green">Wanted here</Badge>}
              {bundle.state === "deprecated" && <Badge>Deprecated</Badge>}
            </SpaceBetween>
          ),
          sections: [
            { id: "about", content: about },
            { id: "fit", content: (bundle) => <Fit bundle={bundle} /> },
            {
              id: "apply",
              content: (bundle) => canChange && <Apply bundle={bundle} runtime={runtime} onOpen={onOpen} />,
            },
          ],
        }}
        empty={<Box color="text-body-secondary">None are published yet. An operator publishes them.</Box>}
      />
    </div>
  );
}

function Fit({ bundle }: { bundle: RuntimeBundle }) {
  if (!fits(bundle)) return <Judged type="warning" words="Does not fit" why={bundle.compatibility?.reason ?? ""} />;
  if (bundle.compatibility?.staged) return <Judged type="success" words="Ready on this node" why="Applied at once." />;
  return <Judged type="info" words="Not on this node yet" why="It is laid down first, which takes some minutes." />;
}

function Judged({ type, words, why }: { type: StatusIndicatorProps.Type; words: string; why: string }) {
  return (
    <>
      <div>
        <StatusIndicator type={type}>{words}</StatusIndicator>
      </div>
      <Box variant="small" color="text-body-secondary">
        {sentence(why)}
      </Box>
    </>
  );
}

function Apply({ bundle, runtime, onOpen }: Pick<Props, "runtime" | "onOpen"> & { bundle: RuntimeBundle }) {
  if (bundle.id === runtime.bundle?.id) return null;
  const verb = runtime.bundle ? "switch" : "apply";
  return (
    <Button
      disabled={!fits(bundle)}
      ariaLabel={`${verb === "switch" ? "Switch to" : "Apply"} ${bundle.product_name} ${bundle.version}`}
      onClick={() => onOpen({ verb, bundle })}
    >
      {verb === "switch" ? "Switch to it" : "Apply"}
    </Button>
  );
}
