import { connection } from "../api/connection";
import { asProblem, UNREACHABLE } from "../api/problem";
import type { TerminalToken } from "../api/queries/terminals";
import { Store } from "./store";

/** How a terminal stands: what is `lost` comes back by itself, the others wait for a word. */
export type Standing =
  | { readonly is: "opening" }
  | { readonly is: "open"; readonly recorded: boolean; readonly notice: string }
  | { readonly is: "lost"; readonly why: string }
  | { readonly is: "elsewhere"; readonly why: string }
  | { readonly is: "ended"; readonly why: string };

/** What draws the bytes, and says when it has. */
export interface Screen {
  /** Null until it stands somewhere and was measured. */
  readonly size: { readonly cols: number; readonly rows: number } | null;
  write(bytes: Uint8Array, drawn: () => void): void;
  clear(): void;
}

export interface Wiring {
  mint: (sessionId: string | null, record: boolean) => Promise<TerminalToken>;
  dial: (token: string) => WebSocket;
  onSession: (sessionId: string, recorded: boolean) => void;
}

type Said =
  | { type: "session"; session_id: string; resumed: boolean; recorded: boolean; notice: string }
  | { type: "exit"; code: number }
  | { type: "error"; reason: string; reattach: boolean }
  | { type: "notice"; text: string };

const REFUSED = 4401;
const TAKEN_OVER = 4409;
const ENDED = 4410;
const PAUSES_MS = [500, 1_000, 2_000, 4_000, 8_000];
const TOLD_BYTES = 32_768; // drawn before the server is told so; it sends 256 kB beyond that

/**
 * One terminal's connection: a token, a socket, and how to come back. The server keeps the shell for minutes after a socket is
 * lost, so a new token for the same session shows the last screen and goes on.
 */
export class TerminalLink extends Store<Standing> {
  private socket: WebSocket | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private unsubscribe: (() => void) | null = null;
  private attempts = 0;
  private isRefused = false;
  private dials = 0; // an answer to an older one is nobody's
  private lastWord: Said | null = null;

  constructor(
    private readonly wiring: Wiring,
    private readonly screen: Screen,
    private sessionId: string | null,
    private isRecorded: boolean,
  ) {
    super({ is: "opening" });
  }

  /** Once; a second word is the same word. */
  start(): void {
    if (this.dials === 0) void this.dial();
  }

  /** By a person's wish: into the same shell, or after its end into a new one. */
  again({ anew = false, record = this.isRecorded } = {}): void {
    this.close();
    this.isRecorded = record;
    this.attempts = 0;
    if (anew) this.sessionId = null;
    this.set({ is: "opening" });
    void this.dial();
  }

  type(data: string | Uint8Array<ArrayBuffer>): void {
    if (this.get().is !== "open") return;
    this.socket?.send(typeof data === "string" ? new TextEncoder().encode(data) : data);
  }

  resize(): void {
    const { size } = this.screen;
    if (size !== null && this.socket?.readyState === WebSocket.OPEN) this.say({ type: "resize", ...size });
  }

  close(): void {
    this.dials += 1;
    clearTimeout(this.timer);
    this.unsubscribe?.();
    this.unsubscribe = null;
    const left = this.socket;
    this.socket = null; // what it still says is nobody's
    left?.close(1000);
  }

  private async dial(): Promise<void> {
    this.dials += 1;
    const mine = this.dials;
    try {
      const { token } = await this.wiring.mint(this.sessionId, this.isRecorded);
      if (mine === this.dials) this.listen(this.wiring.dial(token));
    } catch (error) {
      if (mine === this.dials) this.refuse(error);
    }
  }

  /** No token: the server is away, asks to wait, or says that there is nothing to go back to. */
  private refuse(error: unknown): void {
    const problem = asProblem(error);
    if (problem.code === UNREACHABLE || problem.status >= 500) {
      this.comeBack("the server does not answer");
    } else if (problem.retryAfterSeconds !== null) {
      this.comeBack("too many terminals were opened in the last minute", problem.retryAfterSeconds * 1_000);
    } else {
      this.set({ is: "ended", why: problem.message });
    }
  }

  private listen(socket: WebSocket): void {
    this.socket = socket;
    this.lastWord = null;
    socket.binaryType = "arraybuffer";
    let drawn = 0;
    let told = 0;
    const onDrawn = (count: number) => {
      drawn += count;
      if (this.socket !== socket || socket.readyState !== WebSocket.OPEN || drawn - told < TOLD_BYTES) return;
      told = drawn;
      this.say({ type: "shown", bytes: drawn });
    };
    socket.onopen = () => {
      if (this.socket !== socket) return;
      this.resize();
      this.say({ type: "shown", bytes: 0 });
    };
    socket.onmessage = ({ data }: MessageEvent<ArrayBuffer | string>) => {
      if (this.socket !== socket) return;
      if (typeof data === "string") this.hear(JSON.parse(data) as Said);
      else this.screen.write(new Uint8Array(data), () => onDrawn(data.byteLength));
    };
    socket.onclose = ({ code, reason }) => {
      if (this.socket !== socket) return;
      this.socket = null;
      this.part(code, reason);
    };
  }

  private hear(said: Said): void {
    this.lastWord = said;
    if (said.type !== "session") return;
    this.attempts = 0;
    this.isRefused = false;
    this.sessionId = said.session_id;
    this.isRecorded = said.recorded;
    if (said.resumed) this.screen.clear(); // what follows was shown before
    this.wiring.onSession(said.session_id, said.recorded);
    this.set({ is: "open", recorded: said.recorded, notice: said.notice });
  }

  private part(code: number, reason: string): void {
    const last = this.lastWord;
    if (last?.type === "exit") this.set({ is: "ended", why: exitWords(last.code) });
    else if (code === TAKEN_OVER) this.set({ is: "elsewhere", why: "this terminal was opened in another window" });
    else if (code === ENDED)
      this.set({ is: "ended", why: (last?.type === "error" && last.reason) || reason || "it was ended" });
    else if (code === REFUSED && this.isRefused) this.set({ is: "ended", why: "the server refuses to open it" });
    else {
      this.isRefused = code === REFUSED; // why, the next asking for a token says
      this.comeBack(last?.type === "error" ? last.reason : "the connection was lost");
    }
  }

  /** After a pause, or at once when the server is back. */
  private comeBack(why: string, pause = PAUSES_MS[Math.min(this.attempts, PAUSES_MS.length - 1)]): void {
    this.attempts += 1;
    this.set({ is: "lost", why });
    const tryNow = () => {
      clearTimeout(this.timer);
      this.unsubscribe?.();
      this.unsubscribe = null;
      void this.dial();
    };
    this.timer = setTimeout(tryNow, pause);
    if (connection.snapshot().lostSince === null) return;
    this.unsubscribe = connection.subscribe(() => connection.snapshot().lostSince === null && tryNow());
  }

  private say(message: { type: "resize"; cols: number; rows: number } | { type: "shown"; bytes: number }): void {
    this.socket?.send(JSON.stringify(message));
  }
}

function exitWords(code: number): string {
  if (code === 0) return "the shell ended";
  return code < 0 ? `the shell was ended by signal ${-code}` : `the shell ended with code ${code}`;
}
