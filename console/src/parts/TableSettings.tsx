import CollectionPreferences, {
  type CollectionPreferencesProps,
} from "@cloudscape-design/components/collection-preferences";

const PAGE_SIZES = [20, 50, 100];

export interface TableSettingsProps {
  columns: readonly { id: string; header: string }[];
  preferences: CollectionPreferencesProps.Preferences;
  onChange: (next: CollectionPreferencesProps.Preferences) => void;
}

/** It is loaded because its button was pressed, so it opens at once. */
function openAtOnce(around: HTMLElement | null): void {
  around?.querySelector("button")?.click();
}

/** Which columns, how many rows, how close together. */
export function TableSettings({ columns, preferences, onChange }: TableSettingsProps) {
  return (
    <div ref={openAtOnce}>
      <CollectionPreferences
        title="How this table looks"
        confirmLabel="Keep"
        cancelLabel="Cancel"
        preferences={preferences}
        onConfirm={({ detail }) => onChange(detail)}
        pageSizePreference={{
          title: "Rows on a page",
          options: PAGE_SIZES.map((value) => ({ value, label: `${value}` })),
        }}
        contentDensityPreference={{ label: "Close together", description: "Shows more rows at once" }}
        contentDisplayPreference={{
          title: "Columns",
          options: columns.map(({ id, header }, index) => ({ id, label: header, alwaysVisible: index === 0 })),
        }}
      />
    </div>
  );
}
