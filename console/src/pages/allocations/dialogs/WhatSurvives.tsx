import Box from "@cloudscape-design/components/box";
import ColumnLayout from "@cloudscape-design/components/column-layout";
import Icon, { type IconProps } from "@cloudscape-design/components/icon";
import SpaceBetween from "@cloudscape-design/components/space-between";
import type { useConsequences } from "../../../api/queries/allocations";
import type { components } from "../../../api/schema";
import { View } from "../../../parts/View";
import "./dialogs.css";

type Consequence = components["schemas"]["Consequence"];

export const NOT_SEEN = "First see what is lost and what survives.";

/** What is lost, what survives, and what it means for the bill: as the server says it, not as we believe. */
export function WhatSurvives({ of }: { of: ReturnType<typeof useConsequences> }) {
  return (
    <View of={of} what="consequences">
      {({ lost, survives, billing }) => (
        <SpaceBetween size="m">
          <ColumnLayout columns={2} borders="vertical" minColumnWidth={200}>
            <List title="Is lost" icon="status-negative" variant="error" items={lost} />
            <List title="Survives" icon="status-positive" variant="success" items={survives} />
          </ColumnLayout>
          <Box color="text-body-secondary">{billing}</Box>
        </SpaceBetween>
      )}
    </View>
  );
}

interface ListProps {
  title: string;
  icon: IconProps.Name;
  variant: IconProps.Variant;
  items: readonly Consequence[];
}

function List({ title, icon, variant, items }: ListProps) {
  return (
    <section>
      <Box variant="h3" padding={{ bottom: "xs" }}>
        {title}
      </Box>
      <ul className="consequences">
        {items.map(({ what, detail, ref }) => (
          <li key={`${what} ${ref ?? ""}`}>
            <Icon name={icon} variant={variant} />
            <div>
              <strong>{what.charAt(0).toUpperCase() + what.slice(1)}</strong>
              <div>{detail}</div>
            </div>
          </li>
        ))}
      </ul>
      {items.length === 0 && <Box color="text-body-secondary">Nothing</Box>}
    </section>
  );
}
