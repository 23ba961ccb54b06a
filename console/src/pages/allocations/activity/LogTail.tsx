import Box from "@cloudscape-design/components/box";
import Container from "@cloudscape-design/components/container";
import Header from "@cloudscape-design/components/header";
import Spinner from "@cloudscape-design/components/spinner";
import { memo } from "react";
import type { Allocation } from "../../../api/queries/allocations";
import { type LogLine, useLogTail } from "../../../api/queries/logs";
import "./activity.css";

const CHUNK = 200;
const TIME = new Intl.DateTimeFormat(undefined, {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  fractionalSecondDigits: 3,
  hourCycle: "h23",
});

/** What the node says while it works, as it says it. */
export function LogTail({ allocation }: { allocation: Allocation }) {
  const lines = useLogTail(allocation.id);
  return (
    <Container
      header={
        <Header
          counter={lines ? `(${lines.length})` : ""}
          description="What the node said, newest below; it goes on by itself."
        >
          Log
        </Header>
      }
    >
      {lines === null && (
        <Box color="text-status-inactive">
          <Spinner /> Loading the log
        </Box>
      )}
      {lines?.length === 0 && <Box color="text-body-secondary">The node has said nothing yet.</Box>}
      {lines !== null && lines.length > 0 && <Lines lines={lines} />}
    </Container>
  );
}

/** Upside down for the browser, which then stays at the newest line unless one scrolls away from it. */
function Lines({ lines }: { lines: readonly LogLine[] }) {
  const chunks: LogLine[][] = [];
  for (let from = 0; from < lines.length; from += CHUNK) chunks.push(lines.slice(from, from + CHUNK));
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: who has no mouse scrolls it with the keyboard
    <section className="log" tabIndex={0} aria-label="What the node said">
      <div>
        {chunks.map((chunk) => (
          <Chunk key={chunk[0]?.seq} lines={chunk} last={chunk.at(-1)?.seq} />
        ))}
      </div>
    </section>
  );
}

const Chunk = memo(
  function Chunk({ lines }: { lines: readonly LogLine[]; last: number | undefined }) {
    return (
      <div className="log-chunk">
        {lines.map(({ seq, at, line }) => (
          <div key={seq}>
            <time dateTime={at}>{TIME.format(Date.parse(at))}</time> {line}
          </div>
        ))}
      </div>
    );
  },
  (before, after) => before.last === after.last && before.lines.length === after.lines.length,
);
