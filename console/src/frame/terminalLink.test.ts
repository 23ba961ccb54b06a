// @vitest-environment happy-dom
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Problem, unreachable } from "../api/problem";
import { TerminalLink } from "./terminalLink";

const NOTICE = "This terminal is recorded, as was asked for.";

/** A server's side of a terminal, without the server. */
class FakeSocket {
  readyState: number = WebSocket.OPEN;
  binaryType = "";
  readonly sent: unknown[] = [];
  onopen = () => {};
  onmessage = (_: { data: unknown }) => {};
  onclose = (_: { code: number; reason: string }) => {};
  send = (data: unknown) => void this.sent.push(typeof data === "string" ? JSON.parse(data) : data);
  close = () => {
    this.readyState = WebSocket.CLOSED;
  };
  says = (message: object) => this.onmessage({ data: JSON.stringify(message) });
  shows = (length: number) => this.onmessage({ data: new ArrayBuffer(length) });
  parts = (code: number, reason = "") => this.onclose({ code, reason });
  begins = (resumed = false, recorded = false) => {
    this.onopen();
    this.says({ type: "session", session_id: "term_1", resumed, recorded, notice: recorded ? NOTICE : "" });
  };
}

let sockets: FakeSocket[] = [];
let minted: [string | null, boolean][] = [];
let refusal: Problem | null = null;
let undrawn: (() => void)[] = [];
let cleared = 0;

function linked(sessionId: string | null = null): TerminalLink {
  const wiring = {
    mint: async (session: string | null, record: boolean) => {
      minted.push([session, record]);
      if (refusal !== null) throw refusal;
      return { token: "t", expires_at: "", url: "", recorded: false };
    },
    dial: () => {
      const socket = new FakeSocket();
      sockets.push(socket);
      return socket as unknown as WebSocket;
    },
    onSession: () => {},
  };
  const screen = {
    size: { cols: 80, rows: 24 },
    write: (_: Uint8Array, drawn: () => void) => void undrawn.push(drawn),
    clear: () => {
      cleared += 1;
    },
  };
  const link = new TerminalLink(wiring, screen, sessionId, false);
  link.start();
  return link;
}

const settled = () => vi.advanceTimersByTimeAsync(0);
const last = (): FakeSocket => sockets.at(-1) ?? new FakeSocket();

beforeEach(() => {
  vi.useFakeTimers();
  [sockets, minted, refusal, undrawn, cleared] = [[], [], null, [], 0];
});
afterEach(() => void vi.useRealTimers());

test("it says its size first, and is open once the server names the session", async () => {
  const link = linked();
  await settled();
  last().begins();
  expect(last().sent).toEqual([
    { type: "resize", cols: 80, rows: 24 },
    { type: "shown", bytes: 0 },
  ]);
  expect([link.get(), cleared]).toEqual([{ is: "open", recorded: false, notice: "" }, 0]);
});

test("what is typed before it is open goes nowhere", async () => {
  const link = linked();
  link.type("early");
  await settled();
  last().begins();
  link.type("now");
  expect(last().sent.at(-1)).toEqual(new TextEncoder().encode("now"));
  expect(last().sent.length).toBe(3);
});

test("the server is told what is drawn, not what has arrived", async () => {
  linked();
  await settled();
  last().begins();
  for (let count = 0; count < 4; count += 1) last().shows(16_384);
  expect(last().sent.length).toBe(2);
  for (const drawn of undrawn) drawn();
  expect(last().sent.slice(2)).toEqual([
    { type: "shown", bytes: 32_768 },
    { type: "shown", bytes: 65_536 },
  ]);
});

test("a lost connection comes back into the same shell and begins with an empty screen", async () => {
  const link = linked();
  await settled();
  last().begins();
  last().parts(1006);
  expect(link.get()).toEqual({ is: "lost", why: "the connection was lost" });
  await vi.advanceTimersByTimeAsync(500);
  last().begins(true);
  expect(minted).toEqual([
    [null, false],
    ["term_1", false],
  ]);
  expect([link.get().is, cleared]).toEqual(["open", 1]);
});

test("a server that is away is asked again, ever more seldom", async () => {
  refusal = unreachable();
  const link = linked("term_1");
  await vi.advanceTimersByTimeAsync(60_000);
  expect(link.get().is).toBe("lost");
  expect(minted.length).toBeGreaterThan(5);
  expect(minted.length).toBeLessThan(13);
  refusal = null;
  await vi.advanceTimersByTimeAsync(8_000);
  last().begins(true);
  expect(link.get().is).toBe("open");
});

test("who asks too often waits as long as they are told", async () => {
  refusal = new Problem({ status: 429, code: "rate_limit_exceeded", detail: "slow down" }, 20);
  linked();
  await vi.advanceTimersByTimeAsync(19_000);
  expect(minted.length).toBe(1);
  await vi.advanceTimersByTimeAsync(1_500);
  expect(minted.length).toBe(2);
});

test.each([
  [{ type: "exit", code: 0 }, 1000, { is: "ended", why: "the shell ended" }],
  [{ type: "exit", code: 3 }, 1000, { is: "ended", why: "the shell ended with code 3" }],
  [{ type: "exit", code: -9 }, 1000, { is: "ended", why: "the shell was ended by signal 9" }],
  [
    { type: "error", reason: "the machine was released", reattach: false },
    4410,
    { is: "ended", why: "the machine was released" },
  ],
  [
    { type: "error", reason: "taken", reattach: false },
    4409,
    { is: "elsewhere", why: "this terminal was opened in another window" },
  ],
  [{ type: "error", reason: "the node is away", reattach: true }, 4502, { is: "lost", why: "the node is away" }],
])("%o and code %i is %o", async (said, code, standing) => {
  const link = linked();
  await settled();
  last().begins();
  last().says(said);
  last().parts(code);
  expect(link.get()).toEqual(standing);
});

test("a shell that is over is not gone back into, and a new one can be had", async () => {
  refusal = new Problem({
    status: 409,
    code: "conflict",
    detail: "This terminal has ended: it was detached for too long.",
  });
  const link = linked("term_1");
  await settled();
  expect(link.get()).toEqual({ is: "ended", why: "This terminal has ended: it was detached for too long." });
  refusal = null;
  link.again({ anew: true });
  await settled();
  expect(minted.at(-1)).toEqual([null, false]);
});

test("a token that was refused is asked for once more, for the reason", async () => {
  const link = linked();
  await settled();
  last().parts(4401);
  await vi.advanceTimersByTimeAsync(500);
  last().parts(4401);
  expect([link.get().is, minted.length]).toEqual(["ended", 2]);
});

test("what an older socket still says is nobody's", async () => {
  const link = linked();
  await settled();
  const old = last();
  old.begins();
  link.again({ record: true });
  await settled();
  last().begins(true, true);
  old.says({ type: "exit", code: 1 });
  old.parts(1000);
  expect(link.get()).toEqual({ is: "open", recorded: true, notice: NOTICE });
  expect(minted.at(-1)).toEqual(["term_1", true]);
});

test("one that was closed does not come back", async () => {
  const link = linked();
  await settled();
  last().begins();
  link.close();
  last().parts(1000);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(sockets.length).toBe(1);
});
