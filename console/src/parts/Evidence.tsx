import type { LogLine } from "../api/queries/logs";
import "./phases.css";

interface Props {
  of: { evidence?: Record<string, unknown>; logs?: readonly LogLine[] };
}

/** What stands behind an entry, opened by who wants to see it: facts as they were found, and the last the node said. */
export function Evidence({ of: { evidence = {}, logs = [] } }: Props) {
  const facts = Object.entries(evidence);
  if (facts.length === 0 && logs.length === 0) return null;
  return (
    <details className="evidence">
      <summary>{facts.length > 0 ? "Evidence" : "What the node said"}</summary>
      {facts.length > 0 && (
        <dl>
          {facts.map(([name, value]) => (
            <div key={name}>
              <dt>{name.replaceAll("_", " ")}</dt>
              <dd>{typeof value === "string" ? value : JSON.stringify(value)}</dd>
            </div>
          ))}
        </dl>
      )}
      {logs.length > 0 && <pre>{logs.map(({ line }) => line).join("\n")}</pre>}
    </details>
  );
}
