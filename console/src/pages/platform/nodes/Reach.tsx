import StatusIndicator from "@cloudscape-design/components/status-indicator";
import type { Node } from "../../../api/queries/nodes";
import { Ago } from "../../../parts/Ago";

/** Whether it answers: one word, also to filter by. */
export function reachOf({ intent, offline_since, last_seen_at }: Node): "yes" | "no" | "never linked" | "retired" {
  if (intent === "retired") return "retired";
  if (!last_seen_at) return "never linked";
  return offline_since ? "no" : "yes";
}

export function Reach({ node }: { node: Node }) {
  const reach = reachOf(node);
  if (reach === "yes") return <StatusIndicator type="success">Answers</StatusIndicator>;
  if (reach === "retired") return <StatusIndicator type="stopped">Retired</StatusIndicator>;
  if (reach === "never linked") return <StatusIndicator type="pending">Never linked</StatusIndicator>;
  return (
    <StatusIndicator type="error">
      Silent, last heard <Ago at={node.offline_since ?? ""} />
    </StatusIndicator>
  );
}

/** Of one that answers, the time that was written down is up to half a minute old: it says less than that it answers. */
export function LastSeen({ node: { last_seen_at, offline_since } }: { node: Node }) {
  if (!last_seen_at) return <>never</>;
  return offline_since ? <Ago at={last_seen_at} /> : <>answers now</>;
}
