import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import { useNavigate } from "react-router";
import { type RuntimeBundle, useBundleCatalog } from "../../../api/queries/adminRuntimes";
import { Ago } from "../../../parts/Ago";
import { type Column, DataTable } from "../../../parts/DataTable";
import { Link } from "../../../parts/Link";
import { Page } from "../../../parts/Page";
import { BUNDLE, Label } from "../../../parts/StatusLabel";
import { View } from "../../../parts/View";
import { PLATFORM } from "../paths";
import { Seen } from "../Seen";

const COLUMNS: readonly Column<RuntimeBundle>[] = [
  {
    id: "product",
    header: "Bundle",
    sortingField: "product_name",
    cell: ({ id, product_name }) => <Link to={`/platform/runtime-bundles/${id}`}>{product_name}</Link>,
  },
  { id: "version", header: "Version", sortingField: "version", cell: ({ version }) => version },
  { id: "slug", header: "Slug", sortingField: "slug", cell: ({ slug }) => <code>{slug}</code> },
  { id: "state", header: "State", sortingField: "state", cell: ({ state }) => <Label look={BUNDLE[state]} /> },
  { id: "support", header: "Support", sortingField: "support_level", cell: ({ support_level }) => support_level },
  { id: "family", header: "Runtime", sortingField: "runtime_family", cell: ({ runtime_family }) => runtime_family },
  { id: "gpus", header: "GPU families", cell: ({ gpu_families }) => gpu_families.join(", ") || "any" },
  { id: "vendor", header: "Vendor", sortingField: "vendor", cell: ({ vendor }) => vendor },
  {
    id: "published",
    header: "Published",
    sortingField: "published_at",
    cell: ({ published_at }) => <Ago at={published_at} />,
  },
];

const FILTERS = [
  { key: "product_name", propertyLabel: "Bundle", groupValuesLabel: "Bundles" },
  { key: "slug", propertyLabel: "Slug", groupValuesLabel: "Slugs" },
  { key: "version", propertyLabel: "Version", groupValuesLabel: "Versions" },
  { key: "state", propertyLabel: "State", groupValuesLabel: Object.keys(BUNDLE).join(", ") },
  { key: "runtime_family", propertyLabel: "Runtime", groupValuesLabel: "Runtimes" },
  { key: "id", propertyLabel: "Id", groupValuesLabel: "Ids" },
];

export function BundlesPage() {
  const bundles = useBundleCatalog();
  const navigate = useNavigate();
  const publish = (
    <Button variant="primary" onClick={() => void navigate("/platform/runtime-bundles/publish")}>
      Publish a bundle
    </Button>
  );
  return (
    <Page
      title="Runtime bundles"
      about="A bundle is a supported environment, made to the byte from its recipe and staged on nodes, so that applying it to a machine is instant. A published version never changes."
      crumbs={[PLATFORM]}
      description={<Seen of={bundles} />}
    >
      <View of={bundles} what="bundles">
        {(rows) => (
          <DataTable
            id="runtime-bundle-catalog"
            title="Catalog"
            what="bundles"
            rows={rows}
            rowId={({ id }) => id}
            columns={COLUMNS}
            filters={FILTERS}
            actions={publish}
            sorted={{ by: "product" }}
            empty={
              <Box textAlign="center" padding="l">
                <Box variant="h3">No bundle yet</Box>
                <Box padding={{ bottom: "s" }}>Publish a recipe, then stage it on nodes.</Box>
                {publish}
              </Box>
            }
          />
        )}
      </View>
    </Page>
  );
}
