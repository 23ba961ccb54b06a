import { FitAddon } from "@xterm/addon-fit";
import { type ITheme, Terminal } from "@xterm/xterm";
import "@xterm/xterm/css/xterm.css";
import type { Screen } from "./terminalLink";

const COLOURS: ITheme = {
  background: "#0b1716",
  foreground: "#dbe7e5",
  cursor: "#2dd4bf",
  cursorAccent: "#0b1716",
  selectionBackground: "#1f5f58",
  black: "#24403d",
  red: "#fb7185",
  green: "#4ade80",
  yellow: "#facc15",
  blue: "#7dd3fc",
  magenta: "#d8b4fe",
  cyan: "#5eead4",
  white: "#dbe7e5",
  brightBlack: "#86a39f",
  brightRed: "#fda4af",
  brightGreen: "#86efac",
  brightYellow: "#fde047",
  brightBlue: "#bae6fd",
  brightMagenta: "#e9d5ff",
  brightCyan: "#99f6e4",
  brightWhite: "#ffffff",
};
const FONT = 'ui-monospace, "SFMono-Regular", Menlo, Consolas, "Liberation Mono", monospace';
const SCROLLBACK_LINES = 5_000;

export interface ScreenEvents {
  onData: (data: string) => void;
  onBytes: (bytes: Uint8Array<ArrayBuffer>) => void;
  onResize: () => void;
  /** Somebody leaves by keyboard. */
  onLeave: () => void;
}

/** A terminal that is drawn, in an element of its own: it stays as it is while the page around it comes and goes. */
export class XtermScreen implements Screen {
  private readonly host = document.createElement("div");
  private readonly terminal: Terminal;
  private readonly fit = new FitAddon();
  private readonly watch = new ResizeObserver(() => this.measure());
  size: { cols: number; rows: number } | null = null;

  constructor(
    private readonly name: string,
    events: ScreenEvents,
  ) {
    this.host.className = "terminal-screen";
    this.terminal = new Terminal({
      theme: COLOURS,
      fontFamily: FONT,
      fontSize: 13,
      lineHeight: 1.2,
      scrollback: SCROLLBACK_LINES,
      cursorBlink: true,
      minimumContrastRatio: 4.5,
      macOptionIsMeta: true,
    });
    this.terminal.loadAddon(this.fit);
    this.terminal.onData(events.onData);
    this.terminal.onBinary((data) => events.onBytes(Uint8Array.from(data, (each) => each.charCodeAt(0))));
    this.terminal.onResize(({ cols, rows }) => {
      this.size = { cols, rows };
      events.onResize();
    });
    this.terminal.attachCustomKeyEventHandler((event) => this.isForTheShell(event, events.onLeave));
  }

  write(bytes: Uint8Array, drawn: () => void): void {
    this.terminal.write(bytes, drawn);
  }

  clear(): void {
    this.terminal.write("\u001bc"); // in its turn: what came before may not be drawn yet
  }

  show(parent: HTMLElement): void {
    parent.append(this.host);
    if (this.terminal.element === undefined) {
      this.terminal.open(this.host);
      this.terminal.textarea?.setAttribute("aria-label", `Terminal on ${this.name}. Ctrl+Shift+X leaves it.`);
    }
    this.watch.observe(this.host);
    this.measure();
  }

  hide(): void {
    this.watch.disconnect();
    this.host.remove();
  }

  focus(): void {
    this.terminal.focus();
  }

  /** Whether what is typed goes anywhere. */
  listen(isOpen: boolean): void {
    this.terminal.options.disableStdin = !isOpen;
    this.terminal.options.cursorBlink = isOpen;
  }

  readAloud(isOn: boolean): void {
    this.terminal.options.screenReaderMode = isOn;
  }

  dispose(): void {
    this.hide();
    this.terminal.dispose();
  }

  private measure(): void {
    if (this.host.clientWidth === 0 || this.host.clientHeight === 0) return;
    const wanted = this.fit.proposeDimensions();
    if (wanted === undefined || !(wanted.cols > 0 && wanted.rows > 0)) return;
    this.size ??= { cols: this.terminal.cols, rows: this.terminal.rows };
    this.fit.fit();
  }

  private isForTheShell(event: KeyboardEvent, onLeave: () => void): boolean {
    if (event.type !== "keydown" || !event.ctrlKey || !event.shiftKey || event.altKey) return true;
    if (event.code === "KeyX") {
      event.preventDefault();
      onLeave();
      return false;
    }
    if (event.code === "KeyC" && this.terminal.hasSelection()) {
      event.preventDefault(); // browsers open their own tools with it
      void navigator.clipboard?.writeText(this.terminal.getSelection());
      return false;
    }
    return event.code !== "KeyV"; // the browser pastes
  }
}
