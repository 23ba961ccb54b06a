import Container from "@cloudscape-design/components/container";
import Header from "@cloudscape-design/components/header";
import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import SpaceBetween from "@cloudscape-design/components/space-between";
import type { RuntimeBundleDetail } from "../../../api/queries/adminRuntimes";
import { type Column, DataTable } from "../../../parts/DataTable";

type Requirement = RuntimeBundleDetail["recipe"]["requirements"][number];

const COLUMNS: readonly Column<Requirement>[] = [
  { id: "name", header: "Package", sortingField: "name", cell: ({ name }) => name },
  { id: "version", header: "Version", sortingField: "version", cell: ({ version }) => version },
  {
    id: "files",
    header: "Files allowed",
    cell: ({ sha256 }) =>
      sha256.length === 1 ? <code>{sha256[0]?.slice(0, 16)}…</code> : `any of ${sha256.length}, by checksum`,
  },
];

/** Every package by version and checksum, and the check that proves that they work together. */
export function Recipe({ recipe }: { recipe: RuntimeBundleDetail["recipe"] }) {
  return (
    <SpaceBetween size="l">
      <Container header={<Header variant="h2">Made of</Header>}>
        <KeyValuePairs
          columns={2}
          items={[
            { label: "Python", value: recipe.python },
            { label: "Proven by", value: <code>{recipe.check.join(" ")}</code> },
          ]}
        />
      </Container>
      <DataTable
        id="recipe-packages"
        title="Packages"
        what="packages"
        rows={recipe.requirements}
        rowId={({ name }) => name}
        columns={COLUMNS}
        filters={[{ key: "name", propertyLabel: "Package", groupValuesLabel: "Packages" }]}
        sorted={{ by: "name" }}
        empty="None."
      />
    </SpaceBetween>
  );
}
