import { dialTerminal, mintTerminalToken } from "../api/queries/terminals";
import { TerminalLink } from "./terminalLink";
import { XtermScreen } from "./terminalScreen";
import { keepTerminal, type OpenTerminal, terminals } from "./terminals";

/** A terminal of this page: its connection, and what draws it. */
export interface Attached {
  readonly link: TerminalLink;
  readonly screen: XtermScreen;
}

const attached = new Map<string, Attached>();

/** The same one each time, for as long as the terminal is open in this tab. */
export function attachedTo(terminal: OpenTerminal): Attached {
  const { key, allocationId, name, sessionId, record } = terminal;
  const known = attached.get(key);
  if (known !== undefined) return known;
  const screen = new XtermScreen(name, {
    onData: (data) => link.type(data),
    onBytes: (bytes) => link.type(bytes),
    onResize: () => link.resize(),
    onLeave: () => document.getElementById(LEFT_TO)?.focus(),
  });
  const wiring = {
    mint: (session: string | null, isRecorded: boolean) => mintTerminalToken(allocationId, session, isRecorded),
    dial: (token: string) => dialTerminal(allocationId, token),
    onSession: (session: string, isRecorded: boolean) => keepTerminal(key, { sessionId: session, record: isRecorded }),
  };
  const link = new TerminalLink(wiring, screen, sessionId, record);
  link.subscribe(() => screen.listen(link.get().is === "open"));
  const made = { link, screen };
  attached.set(key, made);
  return made;
}

/** Where the keyboard goes that leaves a terminal. */
export const LEFT_TO = "terminal-left-to";

terminals.subscribe(() => {
  const open = new Set(terminals.get().open.map(({ key }) => key));
  for (const [key, { link, screen }] of attached) {
    if (open.has(key)) continue;
    attached.delete(key);
    link.close();
    screen.dispose();
  }
});
