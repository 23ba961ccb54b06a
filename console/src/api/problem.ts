import type { components } from "./schema";

type Document = components["schemas"]["ProblemDocument"];

/** A refusal as the server words it, or the one thing it cannot word: that it did not answer. */
export class Problem extends Error {
  readonly status: number;
  readonly code: string;
  readonly correlationId: string;
  readonly errors: Record<string, string>;
  readonly facts: Record<string, unknown>;
  readonly retryAfterSeconds: number | null;
  readonly at = Date.now();

  constructor(document: Partial<Document>, retryAfterSeconds: number | null = null) {
    super(document.detail ?? "The server answered with something that is not ours. Try again.");
    this.name = "Problem";
    this.status = document.status ?? 0;
    this.code = document.code ?? "unreadable_answer";
    this.correlationId = document.correlation_id ?? "";
    this.errors = Object.fromEntries((document.errors ?? []).map(({ field, message }) => [field, message]));
    this.facts = document.facts ?? {};
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

export const UNREACHABLE = "server_unreachable";

export function unreachable(): Problem {
  return new Problem({
    code: UNREACHABLE,
    detail: "The server does not answer. What you typed is kept; this page goes on by itself when it is back.",
  });
}

export function asProblem(error: unknown): Problem {
  return error instanceof Problem ? error : new Problem({ code: "console_bug", detail: String(error) });
}
