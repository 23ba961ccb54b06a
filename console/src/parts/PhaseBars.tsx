import Box from "@cloudscape-design/components/box";
import Icon from "@cloudscape-design/components/icon";
import Spinner from "@cloudscape-design/components/spinner";
import { shortDuration, useNow } from "./Ago";
import { type Bar, bars, type Drawn, phaseWords } from "./bars";
import { Evidence } from "./Evidence";
import "./phases.css";

/** An operation as a picture: each phase a bar from when it began to when it ended, all on one line of time. */
export function PhaseBars({ operation }: { operation: Drawn }) {
  const drawn = bars(operation, useNow());
  if (drawn.length === 0) return <Box color="text-body-secondary">Nothing has begun yet.</Box>;
  return (
    <ol className="phases">
      {drawn.map((bar) => (
        <PhaseBar key={bar.key} bar={bar} />
      ))}
    </ol>
  );
}

function PhaseBar({ bar: { phase, left, width, seconds, isRunning } }: { bar: Bar }) {
  const isFailed = phase.outcome === "failed";
  const look = isFailed ? "failed" : isRunning ? "running" : width === 0 ? "moment" : "done";
  return (
    <li className="phase" title={new Date(phase.started_at).toLocaleString()}>
      <span className="phase-mark">
        {isRunning ? (
          <Spinner />
        ) : (
          <Icon
            name={isFailed ? "status-negative" : "status-positive"}
            variant={isFailed ? "error" : "success"}
            alt={isFailed ? "Failed" : "Done"}
          />
        )}
      </span>
      <span className="phase-name">
        {phaseWords(phase.phase)}
        {phase.attempt > 1 && <span className="phase-quiet"> try {phase.attempt}</span>}
      </span>
      <span className="phase-track" aria-hidden="true">
        <span
          className={`phase-bar phase-bar-${look}`}
          style={{ insetInlineStart: `${left}%`, inlineSize: `${width}%` }}
        />
      </span>
      <span className="phase-took">{width === 0 && !isRunning ? "" : shortDuration(seconds)}</span>
      {(phase.note || isFilled(phase)) && (
        <div className="phase-more">
          {phase.note && <div className={isFailed ? undefined : "phase-quiet"}>{phase.note}</div>}
          <Evidence of={phase} />
        </div>
      )}
    </li>
  );
}

function isFilled({ evidence = {}, logs = [] }: Bar["phase"]): boolean {
  return Object.keys(evidence).length > 0 || logs.length > 0;
}
