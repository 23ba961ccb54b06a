import DateRangePicker, { type DateRangePickerProps } from "@cloudscape-design/components/date-range-picker";
import Input from "@cloudscape-design/components/input";
import Select from "@cloudscape-design/components/select";
import { useState } from "react";
import type { AuditFilter, AuditResult } from "../../api/queries/audit";
import { useMembers } from "../../api/queries/members";

interface Props {
  projectId: string;
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

/** Who, what, with what result, and when. Asked of the server, so that all of a long log is looked through. */
export function AuditFilters({ projectId, filter, onChange }: Props) {
  const members = useMembers(projectId).data ?? [];
  const people = [
    ANYBODY,
    ...members.map(({ user_id, email }) => ({ value: user_id, label: email || user_id })),
    { value: "system", label: "The system" },
  ];
  const set = (change: Partial<Record<keyof AuditFilter, string>>) =>
    onChange(Object.fromEntries(Object.entries({ ...filter, ...change }).filter(([, value]) => value)) as AuditFilter);
  return (
    <search className="audit-filters">
      <ActionInput key={filter.action ?? ""} action={filter.action ?? ""} onChange={(action) => set({ action })} />
      <Select
        ariaLabel="Who"
        filteringType="auto"
        options={people}
        selectedOption={people.find(({ value }) => value === (filter.actor ?? "")) ?? { value: filter.actor ?? "" }}
        onChange={({ detail }) => set({ actor: detail.selectedOption.value ?? "" })}
      />
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

/** Asked for when it is whole: on Enter, or when the field is left. */
function ActionInput({ action, onChange }: { action: string; onChange: (action: string) => void }) {
  const [text, setText] = useState(action);
  const ask = () => text.trim() !== action && onChange(text.trim());
  return (
    <Input
      value={text}
      type="search"
      ariaLabel="Action, or how it begins"
      placeholder="Action, such as volume"
      onChange={({ detail }) => {
        setText(detail.value);
        if (detail.value === "" && action) onChange("");
      }}
      onKeyDown={({ detail }) => detail.key === "Enter" && ask()}
      onBlur={ask}
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
