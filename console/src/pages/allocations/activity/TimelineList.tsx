import Box from "@cloudscape-design/components/box";
import Container from "@cloudscape-design/components/container";
import Header from "@cloudscape-design/components/header";
import Input from "@cloudscape-design/components/input";
import Spinner from "@cloudscape-design/components/spinner";
import { memo, useDeferredValue, useMemo, useState } from "react";
import type { Entry } from "../../../api/live";
import type { Allocation } from "../../../api/queries/allocations";
import { useAllocationTimeline } from "../../../api/queries/allocationTimeline";
import { shortDuration } from "../../../parts/Ago";
import { phaseWords } from "../../../parts/bars";
import { Evidence } from "../../../parts/Evidence";
import { View } from "../../../parts/View";
import { Windowed } from "../../../parts/Windowed";
import { rowsOf, type TimelineRow } from "./rows";
import "./activity.css";

/** Everything that happened, newest first; older entries are read as one comes to them. */
export function TimelineList({ allocation }: { allocation: Allocation }) {
  const { timeline, readOlder, isReadingOlder } = useAllocationTimeline(allocation.id);
  const [text, setText] = useState("");
  const wanted = useDeferredValue(text);
  return (
    <View of={timeline} what="entries">
      {({ entries, older }) => (
        <Container
          header={
            <Header
              counter={`(${entries.length}${older === null ? "" : "+"})`}
              description="Who did what, when and why. Entries are never altered."
              actions={
                <Input
                  type="search"
                  ariaLabel="Find in the timeline"
                  placeholder="Find in the timeline"
                  value={text}
                  onChange={({ detail }) => setText(detail.value)}
                />
              }
            >
              Timeline
            </Header>
          }
        >
          <Rows entries={entries} text={wanted} />
          {readOlder && <div ref={(mark) => whenSeen(mark, readOlder)} className="timeline-end" />}
          {isReadingOlder && (
            <Box textAlign="center">
              <Spinner /> Reading older entries
            </Box>
          )}
        </Container>
      )}
    </View>
  );
}

/** Calls when the end of what is known is near the window. */
function whenSeen(mark: HTMLElement | null, then: () => void): (() => void) | undefined {
  if (mark === null) return undefined;
  const observer = new IntersectionObserver(([seen]) => seen?.isIntersecting && then(), { rootMargin: "1200px" });
  observer.observe(mark);
  return () => observer.disconnect();
}

const Rows = memo(function Rows({ entries, text }: { entries: readonly Entry[]; text: string }) {
  const rows = useMemo(() => rowsOf(entries, text), [entries, text]);
  if (rows.length === 0) return <Box color="text-body-secondary">No entry says that.</Box>;
  return (
    <div className="timeline">
      <Windowed items={rows} render={list} />
    </div>
  );
});

function list(rows: readonly TimelineRow[]) {
  return (
    <ol>
      {rows.map((row) => (
        <Row key={row.entry.id} row={row} />
      ))}
    </ol>
  );
}

/** Plain elements, and no clock that ticks: there may be ten thousand. */
function Row({ row: { entry, took, day, time } }: { row: TimelineRow }) {
  return (
    <li className="entry" data-day={day}>
      <time dateTime={entry.at} title={new Date(entry.at).toLocaleString()}>
        {time}
      </time>
      <span className={`entry-mark entry-${entry.outcome}`} aria-hidden="true" />
      <span className="entry-phase">
        {phaseWords(entry.phase)}
        {entry.outcome === "failed" && " (failed)"}
      </span>
      <span className="entry-took">{took === null ? "" : shortDuration(took)}</span>
      <span className="entry-actor">{entry.actor_name}</span>
      <div className="entry-note">
        {entry.note}
        <Evidence of={entry} />
      </div>
    </li>
  );
}
