import { useMemo, useSyncExternalStore } from "react";
import type { components } from "../schema";

export type LogLine = components["schemas"]["LogLine"];

const MOST_LINES = 10_000;

/** What the node says of a machine, from its first line and on as it is said; null until the server answers. */
export function useLogTail(allocationId: string): readonly LogLine[] | null {
  const tail = useMemo(() => new Tail(`/api/v1/allocations/${allocationId}/logs?follow=true`), [allocationId]);
  return useSyncExternalStore(tail.follow, tail.lines);
}

/** Open while it can be seen: a browser has six connections to a server, and hidden tabs must not hold them. */
class Tail {
  private known: readonly LogLine[] | null = null;
  private waiting: LogLine[] = [];
  private isFresh = true;
  private source: EventSource | null = null;
  private frame: number | null = null;

  constructor(private readonly url: string) {}

  readonly lines = (): readonly LogLine[] | null => this.known;

  readonly follow = (tell: () => void): (() => void) => {
    const look = (): void => (document.hidden ? this.close() : this.open(tell));
    document.addEventListener("visibilitychange", look);
    look();
    return () => {
      document.removeEventListener("visibilitychange", look);
      this.close();
    };
  };

  private open(tell: () => void): void {
    if (this.source !== null) return;
    const soon = (): void => {
      this.frame ??= requestAnimationFrame(() => this.show(tell)); // lines come in bursts, and are shown by frames
    };
    this.isFresh = true;
    this.source = new EventSource(this.url);
    this.source.onopen = soon;
    this.source.onmessage = ({ data }: MessageEvent<string>) => {
      this.waiting.push(JSON.parse(data) as LogLine);
      soon();
    };
  }

  /** A new stream begins with the first line, so what was shown before gives way to it. */
  private show(tell: () => void): void {
    this.frame = null;
    const before = this.isFresh ? [] : (this.known ?? []);
    this.known = [...before, ...this.waiting].slice(-MOST_LINES);
    this.waiting = [];
    this.isFresh = false;
    tell();
  }

  private close(): void {
    this.source?.close();
    this.source = null;
    this.waiting = [];
    if (this.frame !== null) cancelAnimationFrame(this.frame);
    this.frame = null;
  }
}
