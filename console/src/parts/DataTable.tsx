import { type PropertyFilterProperty, useCollection } from "@cloudscape-design/collection-hooks";
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import type { CollectionPreferencesProps } from "@cloudscape-design/components/collection-preferences";
import Header from "@cloudscape-design/components/header";
import Pagination from "@cloudscape-design/components/pagination";
import PropertyFilter from "@cloudscape-design/components/property-filter";
import Table, { type TableProps } from "@cloudscape-design/components/table";
import { lazy, type ReactNode, Suspense, useMemo, useState } from "react";
import { load } from "../api/chunks";
import { useKept } from "./kept";
import type { TableSettingsProps } from "./TableSettings";

const TableSettings = lazy(async () => ({ default: (await load(() => import("./TableSettings"))).TableSettings }));

export interface Column<T> extends TableProps.ColumnDefinition<T> {
  id: string;
  header: string;
  /** Shown only to who asks for it in the table's settings. */
  isHidden?: boolean;
}

interface Props<T> {
  /** Names the table in the browser's memory: its settings are kept under it. */
  id: string;
  title: string;
  what: string;
  rows: readonly T[];
  rowId: (row: T) => string;
  columns: readonly Column<T>[];
  /** None for a few rows that one sees at once. */
  filters?: readonly (PropertyFilterProperty & { groupValuesLabel: string })[];
  /** A few rows of a part of a page: nothing to set up. */
  isPlain?: boolean;
  /** Instead of filters in the browser, where the server filters. */
  filter?: ReactNode;
  /** Where there are more rows than were asked for yet. */
  older?: { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage: () => Promise<unknown> };
  actions?: ReactNode;
  description?: ReactNode;
  empty: ReactNode;
  /** Long text is wrapped instead of making the table wider. */
  isWrapped?: boolean;
  /** The last column stays in sight when the table is wider than the page. */
  isLastSticky?: boolean;
  /** The column and direction to begin with. */
  sorted?: { by: string; descending?: boolean };
  selected?: readonly T[];
  onSelect?: (rows: T[]) => void;
  rowLabel?: (row: T) => string;
}

const ROWS_ON_A_PAGE = 20;

/** A table one can filter, sort, page and set up, and that remembers how. */
export function DataTable<T extends object>(props: Props<T>) {
  const { id, rows, filters = [], rowId } = props;
  const columns = useMemo(() => props.columns.map(remembering), [props.columns]);
  const [preferences, setPreferences] = useKept<CollectionPreferencesProps.Preferences>(`table-${id}`, {
    pageSize: ROWS_ON_A_PAGE,
    contentDensity: "comfortable",
    contentDisplay: columns.map((column) => ({ id: column.id, visible: !column.isHidden })),
  });
  const by = columns.find((column) => column.id === props.sorted?.by);
  const { items, collectionProps, propertyFilterProps, paginationProps, filteredItemsCount, actions } = useCollection(
    rows,
    {
      propertyFiltering: {
        filteringProperties: filters,
        empty: props.empty,
        noMatch: <NoMatch onClear={() => actions.setPropertyFiltering({ tokens: [], operation: "and" })} />,
      },
      pagination: { pageSize: preferences.pageSize ?? ROWS_ON_A_PAGE },
      sorting: by ? { defaultState: { sortingColumn: by, isDescending: props.sorted?.descending ?? false } } : {},
      selection: { trackBy: rowId },
    },
  );
  const isFiltered = propertyFilterProps.query.tokens.length > 0;
  const counter = isFiltered ? `(${filteredItemsCount} of ${rows.length})` : `(${rows.length})`;
  return (
    <Table<T>
      {...collectionProps}
      variant="container"
      stickyHeader
      items={items}
      trackBy={rowId}
      columnDefinitions={columns}
      columnDisplay={withNew(preferences.contentDisplay ?? [], columns)}
      contentDensity={preferences.contentDensity ?? "comfortable"}
      wrapLines={props.isWrapped ?? false}
      {...(props.isLastSticky ? { stickyColumns: { last: 1 } } : {})}
      {...selection(props)}
      header={
        <Header counter={counter} actions={props.actions} description={props.description}>
          {props.title}
        </Header>
      }
      footer={props.older?.hasNextPage && <Older what={props.what} {...props.older} />}
      filter={
        props.filter ??
        (filters.length > 0 && (
          <PropertyFilter
            {...propertyFilterProps}
            filteringPlaceholder={`Find ${props.what}`}
            filteringAriaLabel={`Find ${props.what}`}
            countText={`${filteredItemsCount} found`}
            expandToViewport
          />
        ))
      }
      pagination={
        paginationProps.pagesCount > 1 && (
          <Pagination
            {...paginationProps}
            ariaLabels={{
              nextPageLabel: "Next page",
              previousPageLabel: "Previous page",
              pageLabel: (n) => `Page ${n}`,
            }}
          />
        )
      }
      preferences={
        !props.isPlain && <Preferences columns={columns} preferences={preferences} onChange={setPreferences} />
      }
      ariaLabels={{
        tableLabel: props.title,
        selectionGroupLabel: `Choose ${props.what}`,
        allItemsSelectionLabel: () => "Choose all",
        itemSelectionLabel: (_, row) => `Choose ${(props.rowLabel ?? rowId)(row)}`,
      }}
    />
  );
}

/** A row that is the same object is not drawn again: an event among a thousand rows costs one of them. */
function remembering<T extends object>(column: Column<T>): Column<T> {
  const drawn = new WeakMap<T, ReactNode>();
  const cell = (row: T): ReactNode => {
    if (!drawn.has(row)) drawn.set(row, column.cell(row));
    return drawn.get(row);
  };
  return { ...column, cell };
}

function Older({ what, isFetchingNextPage, fetchNextPage }: { what: string } & NonNullable<Props<never>["older"]>) {
  return (
    <Box textAlign="center">
      <Button loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
        Load older {what}
      </Button>
    </Box>
  );
}

type Display = readonly CollectionPreferencesProps.ContentDisplayItem[];

/** A column that came after the settings were kept is shown; one that went is left out. */
function withNew<T>(kept: Display, columns: readonly Column<T>[]): Display {
  const known = kept.filter(({ id }) => columns.some((column) => column.id === id));
  const added = columns.filter(({ id }) => !kept.some((item) => item.id === id));
  return [...known, ...added.map(({ id }) => ({ id, visible: true }))];
}

function selection<T>({ selected, onSelect }: Props<T>): Partial<TableProps<T>> {
  if (selected === undefined || onSelect === undefined) return {};
  return {
    selectionType: "single",
    selectedItems: selected,
    onSelectionChange: ({ detail }) => onSelect(detail.selectedItems),
  };
}

function NoMatch({ onClear }: { onClear: () => void }) {
  return (
    <Box textAlign="center" padding="m">
      <Box padding={{ bottom: "s" }}>Nothing matches the filter.</Box>
      <button type="button" className="plain-link" onClick={onClear}>
        Clear the filter
      </button>
    </Box>
  );
}

/** A button until it is pressed: what sets a table up weighs more than the table. */
function Preferences(props: TableSettingsProps) {
  const [isWanted, setIsWanted] = useState(false);
  const button = (
    <Button variant="icon" iconName="settings" ariaLabel="How this table looks" onClick={() => setIsWanted(true)} />
  );
  if (!isWanted) return button;
  return (
    <Suspense fallback={button}>
      <TableSettings {...props} />
    </Suspense>
  );
}
