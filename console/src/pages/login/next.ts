/** Only to addresses of ours: a link to this page must not send people elsewhere. */
export function safeNext(next: string | null): string {
  return next !== null && /^\/(?![/\\])/.test(next) && !/^\/login(?![\w-])/.test(next) ? next : "/";
}

/** Whole seconds until the next try is heard. */
export function secondsToWait(retryAfterSeconds: number | null, refusedAt: number, now: number): number {
  if (retryAfterSeconds === null) return 0;
  return Math.max(0, Math.ceil(retryAfterSeconds - (now - refusedAt) / 1_000));
}
