import Button from "@cloudscape-design/components/button";
import ButtonDropdown from "@cloudscape-design/components/button-dropdown";
import Container from "@cloudscape-design/components/container";
import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Tabs from "@cloudscape-design/components/tabs";
import { useState } from "react";
import { useNavigate, useParams } from "react-router";
import {
  type BundleVerb,
  type RuntimeBundle,
  type RuntimeBundleDetail,
  useBundle,
  useChangeBundle,
} from "../../../api/queries/adminRuntimes";
import { notify } from "../../../frame/notices";
import { Ago } from "../../../parts/Ago";
import { Copy } from "../../../parts/Copy";
import { Page } from "../../../parts/Page";
import { BUNDLE, Label } from "../../../parts/StatusLabel";
import { View } from "../../../parts/View";
import { ActDialog, type Consequences } from "../ActDialog";
import { BUNDLES, PLATFORM } from "../paths";
import { Seen } from "../Seen";
import { Recipe } from "./Recipe";
import { StageDialog } from "./StageDialog";
import { Stagings } from "./Stagings";

const VERBS: Record<BundleVerb, { label: string; from: readonly RuntimeBundle["state"][] } & Consequences> = {
  deprecate: {
    label: "Deprecate",
    from: ["published"],
    does: "No slug leads to it any more; who names it exactly still gets it.",
    survives: "Machines that run with it, and what is staged.",
  },
  republish: { label: "Publish again", from: ["deprecated"], does: "Takes the deprecation back." },
  retire: {
    label: "Retire",
    from: ["published", "deprecated"],
    does: "Nobody new can have it, for good, and it is staged on no further node.",
    survives: "Machines that run with it keep it.",
  },
};

export function BundlePage() {
  const { bundleId = "" } = useParams();
  const bundle = useBundle(bundleId);
  const shown = bundle.data?.bundle;
  return (
    <Page
      title={shown ? `${shown.product_name} ${shown.version}` : "Bundle"}
      about="Where this version is staged, with the evidence of its check, and how it is made. A node whose files drift from their checksums puts them right and says so."
      crumbs={[PLATFORM, BUNDLES]}
      description={<Seen of={bundle} />}
      actions={shown && <Actions bundle={shown} />}
    >
      <View of={bundle} what="bundle">
        {(seen) => (
          <SpaceBetween size="l">
            <Summary bundle={seen.bundle} />
            <BundleTabs seen={seen} />
          </SpaceBetween>
        )}
      </View>
    </Page>
  );
}

function Actions({ bundle }: { bundle: RuntimeBundle }) {
  const [verb, setVerb] = useState<BundleVerb | "stage" | null>(null);
  const change = useChangeBundle(bundle.id);
  const verbs = (Object.keys(VERBS) as BundleVerb[]).filter((each) => VERBS[each].from.includes(bundle.state));
  const close = () => {
    setVerb(null);
    change.reset();
  };
  const done = ({ state }: RuntimeBundle) => {
    notify("success", `${bundle.product_name} ${bundle.version} is ${BUNDLE[state][1].toLowerCase()} now`);
    close();
  };
  if (verbs.length === 0) return null;
  return (
    <SpaceBetween direction="horizontal" size="xs">
      <ButtonDropdown
        items={verbs.map((each) => ({ id: each, text: `${VERBS[each].label}…` }))}
        onItemClick={({ detail }) => setVerb(verbs.find((each) => each === detail.id) ?? null)}
      >
        Change
      </ButtonDropdown>
      <Button variant="primary" onClick={() => setVerb("stage")}>
        Stage on nodes
      </Button>
      {verb === "stage" && <StageDialog bundle={bundle} onClose={close} />}
      {verb && verb !== "stage" && (
        <ActDialog
          title={`${VERBS[verb].label}: ${bundle.product_name} ${bundle.version}`}
          verb={VERBS[verb].label}
          {...VERBS[verb]}
          isReasonOptional={verb === "republish"}
          isPending={change.isPending}
          error={change.error}
          onAct={(reason) => change.mutate({ verb, reason }, { onSuccess: done })}
          onClose={close}
        />
      )}
    </SpaceBetween>
  );
}

function Summary({ bundle }: { bundle: RuntimeBundle }) {
  return (
    <Container>
      <KeyValuePairs
        columns={4}
        items={[
          { label: "State", value: <Label look={BUNDLE[bundle.state]} /> },
          { label: "Support", value: bundle.support_level },
          { label: "Runtime", value: bundle.runtime_family },
          { label: "GPU families", value: bundle.gpu_families.join(", ") || "any" },
          { label: "Driver", value: driver(bundle) },
          { label: "Vendor", value: bundle.vendor },
          { label: "Published", value: <Ago at={bundle.published_at} /> },
          { label: "Slug", value: <code>{bundle.slug}</code> },
          { label: "On machines at", value: <Copy text={bundle.install_path} what="the path" /> },
          { label: "Digest of its recipe", value: <Copy text={bundle.digest} what="the digest" /> },
        ]}
      />
    </Container>
  );
}

function driver({ driver_min: least, driver_max: most }: RuntimeBundle): string {
  if (least && most) return `${least} to ${most}`;
  if (least) return `${least} or newer`;
  return most ? `${most} or older` : "any, or none";
}

function BundleTabs({ seen }: { seen: RuntimeBundleDetail }) {
  const { tab = "nodes" } = useParams();
  const navigate = useNavigate();
  const base = `/platform/runtime-bundles/${seen.bundle.id}`;
  return (
    <Tabs
      activeTabId={tab}
      onChange={({ detail: { activeTabId: to } }) => void navigate(to === "nodes" ? base : `${base}/${to}`)}
      tabs={[
        { id: "nodes", label: "Nodes", content: <Stagings bundle={seen.bundle} /> },
        { id: "recipe", label: "Recipe", content: <Recipe recipe={seen.recipe} /> },
      ]}
      i18nStrings={{ scrollLeftAriaLabel: "Earlier tabs", scrollRightAriaLabel: "Later tabs" }}
      ariaLabel={`About ${seen.bundle.product_name}`}
    />
  );
}
