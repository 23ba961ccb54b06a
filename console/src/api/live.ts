import { connection } from "./connection";
import type { components } from "./schema";

export type Entry = components["schemas"]["Entry"];

type Listener = (entry: Entry) => void;

/**
 * One event stream per browser and project. A browser opens six connections to a server at most, so of all tabs that can
 * be seen one holds the stream, chosen by a lock, and tells the others; a hidden tab lets go of it.
 */
export class Live {
  private readonly channel: BroadcastChannel;
  private readonly lock: string;
  private source: EventSource | null = null;
  private release: (() => void) | null = null;
  private waiting: AbortController | null = null;

  constructor(
    private readonly projectId: string,
    private readonly onEntry: Listener,
    private readonly onReopened: () => void,
  ) {
    this.lock = `gpuaas-events-${projectId}`;
    this.channel = new BroadcastChannel(this.lock);
    this.channel.onmessage = ({ data }: MessageEvent<Entry | null>) => this.heard(data);
    document.addEventListener("visibilitychange", this.onVisibility);
    this.onVisibility();
  }

  close(): void {
    document.removeEventListener("visibilitychange", this.onVisibility);
    this.letGo();
    this.channel.close();
  }

  private readonly onVisibility = (): void => {
    if (document.hidden) {
      this.letGo();
    } else {
      this.onReopened(); // nothing was heard while hidden
      this.follow();
    }
  };

  private follow(): void {
    if (this.waiting !== null) return;
    const waiting = new AbortController();
    this.waiting = waiting;
    if (!isSecureContext) {
      this.open(); // plain HTTP from another machine has no locks: each tab listens for itself
      return;
    }
    navigator.locks
      .request(this.lock, { signal: waiting.signal }, () => {
        this.open();
        return new Promise<void>((resolve) => {
          this.release = resolve;
        });
      })
      .catch(() => undefined); // given up while waiting
  }

  private open(): void {
    let lost = false;
    const source = new EventSource(`/api/v1/projects/${this.projectId}/events`);
    source.onopen = () => {
      if (lost) this.tell(null);
      lost = false;
    };
    source.onerror = () => {
      void connection.doubt();
      lost = true; // the browser opens it again by itself, and asks for what came since; but not after a refusal
      if (source.readyState === EventSource.CLOSED && this.source === source)
        setTimeout(() => this.reopen(source), 2_000);
    };
    source.addEventListener("end", () => this.tell(null)); // the session or the membership is over: ask who we are
    source.onmessage = ({ data }: MessageEvent<string>) => this.tell(JSON.parse(data) as Entry);
    this.source = source;
  }

  private reopen(refused: EventSource): void {
    if (this.source !== refused) return;
    this.open();
    this.tell(null);
  }

  private tell(entry: Entry | null): void {
    this.heard(entry);
    if (isSecureContext) this.channel.postMessage(entry);
  }

  private heard(entry: Entry | null): void {
    if (entry === null) this.onReopened();
    else this.onEntry(entry);
  }

  private letGo(): void {
    this.waiting?.abort();
    this.waiting = null;
    this.source?.close();
    this.source = null;
    this.release?.();
    this.release = null;
  }
}
