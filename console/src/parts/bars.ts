import type { Operation, Phase } from "../api/queries/operations";

/** A phase as it is drawn: where it lies in its operation, in hundredths of the whole. */
export interface Bar {
  key: string;
  phase: Phase;
  left: number;
  width: number;
  seconds: number;
  isRunning: boolean;
}

/** What is drawn of an operation; a staging is one too. */
export type Drawn = Pick<Operation, "started_at" | "ended_at" | "status" | "phases">;

/** Phases on one line of time, from the operation's start to its end or to now. */
export function bars(operation: Drawn, now: number): Bar[] {
  const start = Date.parse(operation.started_at);
  const end = operation.ended_at ? Date.parse(operation.ended_at) : Math.max(now, start);
  const spans = (operation.phases ?? []).map((phase) => span(phase, operation, end));
  const last = Math.max(end, ...spans.map(({ to }) => to)); // cleaning up goes on after a failure is told
  const whole = Math.max(1, last - start);
  return spans.map(({ phase, from, to, isRunning }, place) => ({
    key: `${place} ${phase.phase}`,
    phase,
    left: clamp((from - start) / whole),
    width: clamp((to - from) / whole),
    seconds: (to - from) / 1_000,
    isRunning,
  }));
}

interface Span {
  phase: Phase;
  from: number;
  to: number;
  isRunning: boolean;
}

/** What had begun when its operation was ended by something else ended with it. */
function span(phase: Phase, operation: Drawn, end: number): Span {
  const from = Date.parse(phase.started_at);
  const to = phase.ended_at ? Date.parse(phase.ended_at) : Math.max(from, end);
  return { phase, from, to, isRunning: !phase.ended_at && operation.status === "running" };
}

function clamp(share: number): number {
  return Math.min(100, Math.max(0, share * 100));
}

/** `access_ready` and `runtime.applied` as people say them. */
export function phaseWords(phase: string): string {
  const words = phase.replace(/[_.]/g, " ").replace(/\b(gpu|ssh)/g, (letters) => letters.toUpperCase());
  return words.charAt(0).toUpperCase() + words.slice(1);
}
