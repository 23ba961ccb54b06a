import DateRangePicker, { type DateRangePickerProps } from "@cloudscape-design/components/date-range-picker";
import Input from "@cloudscape-design/components/input";
import Select from "@cloudscape-design/components/select";
import { useState } from "react";
import type { AuditFilter, AuditResult } from "../../api/queries/audit";

export interface Person {
  id: string;
  email: string;
}

interface Props {
  people?: readonly Person[];
  filter: AuditFilter;
  onChange: (filter: AuditFilter) => void;
}

const ANYBODY = { value: "", label: "Anybody" };
const RESULTS = [
  { value: "", label: "Done or refused" },
  { value: "done", label: "Done" },
  { value: "denied", label: "Refused" },
];
const SPANS: DateRangePickerProps.RelativeOption[] = [
  { key: "hour", amount: 1, unit: "hour", type: "relative" },
  { key: "day", amount: 1, unit: "day", type: "relative" },
  { key: "week", amount: 1, unit: "week", type: "relative" },
  { key: "month", amount: 1, unit: "month", type: "relative" },
];

/** Actor, action, target, result and time. The server filters, so that all of a long log is searched. */
export function AuditFilters({ people, filter, onChange }: Props) {
  const set = (change: Partial<Record<keyof AuditFilter, string>>) =>
    onChange(Object.fromEntries(Object.entries({ ...filter, ...change }).filter(([, value]) => value)) as AuditFilter);
  const text = (name: "actor" | "action" | "target", label: string, placeholder: string) => (
    <TextInput
      key={`${name} ${filter[name] ?? ""}`}
      label={label}
      placeholder={placeholder}
      value={filter[name] ?? ""}
      onChange={(value) => set({ [name]: value })}
    />
  );
  return (
    <search className="audit-filters">
      {people ? (
        <Who people={people} actor={filter.actor ?? ""} onChange={(actor) => set({ actor })} />
      ) : (
        text("actor", "Actor id", "Actor id")
      )}
      {text("action", "Action, or how it begins", "Action")}
      {text("target", "Target id", "Target id")}
      <Select
        ariaLabel="Result"
        options={RESULTS}
        selectedOption={RESULTS.find(({ value }) => value === (filter.result ?? "")) ?? null}
        onChange={({ detail }) => set({ result: (detail.selectedOption.value ?? "") as AuditResult })}
      />
      <When filter={filter} onChange={set} />
    </search>
  );
}

interface WhoProps {
  people: readonly Person[];
  actor: string;
  onChange: (actor: string) => void;
}

function Who({ people, actor, onChange }: WhoProps) {
  const options = [
    ANYBODY,
    ...people.map(({ id, email }) => ({ value: id, label: email || id })),
    { value: "system", label: "The system" },
  ];
  return (
    <Select
      ariaLabel="Who"
      filteringType="auto"
      options={options}
      selectedOption={options.find(({ value }) => value === actor) ?? { value: actor }}
      onChange={({ detail }) => onChange(detail.selectedOption.value ?? "")}
    />
  );
}

interface TextProps {
  label: string;
  placeholder: string;
  value: string;
  onChange: (value: string) => void;
}

/** Applied when it is whole: on Enter, or when the field is left. */
function TextInput({ label, placeholder, value, onChange }: TextProps) {
  const [text, setText] = useState(value);
  const apply = () => text.trim() !== value && onChange(text.trim());
  return (
    <Input
      value={text}
      type="search"
      ariaLabel={label}
      placeholder={placeholder}
      spellcheck={false}
      onChange={({ detail }) => {
        setText(detail.value);
        if (detail.value === "" && value) onChange("");
      }}
      onKeyDown={({ detail }) => detail.key === "Enter" && apply()}
      onBlur={apply}
    />
  );
}

interface WhenProps {
  filter: AuditFilter;
  onChange: (change: { since: string; until: string }) => void;
}

/** A span that ends now is kept as the moment it began: the address stays true. */
function When({ filter: { since, until }, onChange }: WhenProps) {
  const value: DateRangePickerProps.Value | null =
    since || until ? { type: "absolute", startDate: since ?? "", endDate: until ?? new Date().toISOString() } : null;
  return (
    <DateRangePicker
      value={value}
      relativeOptions={SPANS}
      isValidRange={() => ({ valid: true })}
      placeholder="At any time"
      onChange={({ detail }) => onChange(range(detail.value))}
      i18nStrings={WORDS}
      ariaLabel="When"
      hideTimeOffset
    />
  );
}

function range(value: DateRangePickerProps.Value | null): { since: string; until: string } {
  if (value === null) return { since: "", until: "" };
  if (value.type === "absolute") {
    return { since: new Date(value.startDate).toISOString(), until: new Date(value.endDate).toISOString() };
  }
  const DAYS: Record<string, number> = { minute: 1 / 1440, hour: 1 / 24, day: 1, week: 7, month: 30 };
  const back = value.amount * (DAYS[value.unit] ?? 1) * 86_400_000;
  return { since: new Date(Date.now() - back).toISOString(), until: "" };
}

const WORDS: DateRangePickerProps.I18nStrings = {
  ariaLabel: "When",
  todayAriaLabel: "Today",
  nextMonthAriaLabel: "Next month",
  previousMonthAriaLabel: "Previous month",
  customRelativeRangeDurationLabel: "How long",
  customRelativeRangeDurationPlaceholder: "A number",
  customRelativeRangeOptionLabel: "Another span",
  customRelativeRangeOptionDescription: "Say how long",
  customRelativeRangeUnitLabel: "Unit",
  formatRelativeRange: ({ amount, unit }) =>
    `Last ${amount === 1 ? "" : `${amount} `}${unit}${amount === 1 ? "" : "s"}`,
  formatUnit: (unit, value) => (value === 1 ? unit : `${unit}s`),
  dateTimeConstraintText: "Days as 2026/11/16, times in 24 hours.",
  relativeModeTitle: "Up to now",
  absoluteModeTitle: "From, to",
  relativeRangeSelectionHeading: "How far back",
  startDateLabel: "From",
  endDateLabel: "To",
  startTimeLabel: "From, time",
  endTimeLabel: "To, time",
  clearButtonLabel: "Any time",
  cancelButtonLabel: "Cancel",
  applyButtonLabel: "Use",
};
