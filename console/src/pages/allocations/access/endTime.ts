/** When a grant ends, as a person says it. */
export interface EndTime {
  choice: string;
  /** Both as typed, by the clock of whoever types. */
  date: string;
  time: string;
}

export const NEVER = "never";
export const AT_A_TIME = "time";
const HOURS: Record<string, number> = { "1h": 1, "8h": 8, "1d": 24, "7d": 168 };

export const CHOICES = [
  { value: NEVER, label: "Until it is taken back" },
  { value: "1h", label: "For an hour" },
  { value: "8h", label: "For 8 hours" },
  { value: "1d", label: "For a day" },
  { value: "7d", label: "For a week" },
  { value: AT_A_TIME, label: "Until a time" },
];

export const NO_END: EndTime = { choice: NEVER, date: "", time: "" };

/** The moment it means; null is no end, undefined a time that is none, or is over. */
export function momentOf({ choice, date, time }: EndTime, now: Date): string | null | undefined {
  if (choice === NEVER) return null;
  const hours = HOURS[choice];
  if (hours !== undefined) return new Date(now.getTime() + hours * 3_600_000).toISOString();
  const at = new Date(`${date}T${time || "00:00"}`);
  return at.getTime() > now.getTime() ? at.toISOString() : undefined;
}
