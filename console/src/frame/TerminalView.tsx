import Badge from "@cloudscape-design/components/badge";
import Button from "@cloudscape-design/components/button";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import { useEffect, useRef } from "react";
import type { Attached } from "./attached";
import { useStore } from "./store";
import type { Standing } from "./terminalLink";
import type { OpenTerminal } from "./terminals";

interface Props {
  terminal: OpenTerminal;
  attached: Attached;
}

/** One terminal, what is to be known of it, and the keys that a phone has not. */
export function TerminalView({ terminal, attached }: Props) {
  const { link, screen } = attached;
  const place = useRef<HTMLDivElement>(null);
  const isNew = useRef(terminal.sessionId === null);
  const standing = useStore(link);
  useEffect(() => {
    if (place.current === null) return;
    screen.show(place.current);
    if (isNew.current) screen.focus();
    return () => screen.hide();
  }, [screen]);
  return (
    <div className="terminal" ref={fill}>
      <div className="terminal-place" ref={place} />
      <div className="terminal-keys">
        {KEYS.map(([name, bytes]) => (
          <button
            key={name}
            type="button"
            aria-label={`Send ${name}`}
            onPointerDown={(event) => event.preventDefault()} // the keyboard of a phone stays where it is
            onClick={() => link.type(bytes)}
          >
            {name}
          </button>
        ))}
      </div>
      <div className="terminal-status">
        <span role="status">
          <Words standing={standing} name={terminal.name} />
        </span>
        {standing.is === "open" && standing.recorded && (
          <span>
            <Badge color="red">Recorded</Badge> {standing.notice}
          </span>
        )}
        {standing.is === "open" && (
          <span className="terminal-hint">
            <kbd>Ctrl</kbd>+<kbd>Shift</kbd>+<kbd>X</kbd> leaves the terminal
          </span>
        )}
        <Next standing={standing} attached={attached} />
      </div>
    </div>
  );
}

const BELOW_PX = 8;

/** As high as the panel leaves room for: a terminal scrolls by itself, and nothing else should. */
function fill(element: HTMLDivElement | null) {
  let room = element?.parentElement ?? null;
  while (room !== null && getComputedStyle(room).overflowY !== "auto") room = room.parentElement;
  if (element === null || room === null) return;
  const measure = (around: HTMLElement) => {
    const above = element.getBoundingClientRect().top - around.getBoundingClientRect().top + around.scrollTop;
    element.style.blockSize = `${around.clientHeight - above - BELOW_PX}px`;
  };
  const watch = new ResizeObserver(([entry]) => entry && measure(entry.target as HTMLElement));
  watch.observe(room);
  return () => watch.disconnect();
}

const KEYS: readonly (readonly [string, string])[] = [
  ["Esc", "\u001b"],
  ["Tab", "\t"],
  ["Ctrl-C", "\u0003"],
  ["Ctrl-D", "\u0004"],
  ["↑", "\u001b[A"],
  ["↓", "\u001b[B"],
  ["←", "\u001b[D"],
  ["→", "\u001b[C"],
];

function Words({ standing, name }: { standing: Standing; name: string }) {
  switch (standing.is) {
    case "opening":
      return <StatusIndicator type="in-progress">Opening a terminal on {name}</StatusIndicator>;
    case "open":
      return <StatusIndicator type="success">Connected to {name}</StatusIndicator>;
    case "lost":
      return <StatusIndicator type="loading">Coming back by itself: {standing.why}</StatusIndicator>;
    case "elsewhere":
      return <StatusIndicator type="info">Not here any more: {standing.why}</StatusIndicator>;
    case "ended":
      return <StatusIndicator type="stopped">Ended: {standing.why}</StatusIndicator>;
  }
}

function Next({ standing, attached: { link, screen } }: { standing: Standing; attached: Attached }) {
  const go = (asked: Parameters<typeof link.again>[0]) => {
    link.again(asked);
    screen.focus();
  };
  if (standing.is === "lost") return <Button onClick={() => go({})}>Try now</Button>;
  if (standing.is === "elsewhere") return <Button onClick={() => go({})}>Re-attach here</Button>;
  if (standing.is === "ended") return <Button onClick={() => go({ anew: true })}>Open anew</Button>;
  return null;
}
