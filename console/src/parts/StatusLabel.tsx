import StatusIndicator, { type StatusIndicatorProps } from "@cloudscape-design/components/status-indicator";
import type { components } from "../api/schema";

type Schemas = components["schemas"];
type Look = readonly [StatusIndicatorProps.Type, string];

/** The one table of status words and colours, keyed by the generated enums: a new status does not compile without one. */
export const ALLOCATION: Record<Schemas["Status"], Look> = {
  requested: ["pending", "Requested"],
  provisioning: ["in-progress", "Provisioning"],
  active: ["success", "Active"],
  restarting: ["in-progress", "Restarting"],
  restart_failed: ["error", "Restart failed"],
  releasing: ["in-progress", "Releasing"],
  release_failed: ["error", "Release failed"],
  released: ["stopped", "Released"],
  failed: ["error", "Failed"],
};

export const HEALTH: Record<Schemas["Health"], Look> = {
  ok: ["success", "Healthy"],
  degraded: ["warning", "Degraded"],
  unreachable: ["error", "Unreachable"],
  unknown: ["pending", "Not known yet"],
};

export const OPERATION: Record<Schemas["OperationStatus"], Look> = {
  running: ["in-progress", "Running"],
  succeeded: ["success", "Done"],
  failed: ["error", "Failed"],
};

export const GRANT: Record<Schemas["GrantStatus"], Look> = {
  asked: ["pending", "Asks for access"],
  awaiting_key: ["warning", "Waits for a key"],
  active: ["success", "Active"],
  revoked: ["stopped", "Revoked"],
  ended: ["stopped", "Ended"],
};

export function Label({ look: [type, words] }: { look: Look }) {
  return <StatusIndicator type={type}>{words}</StatusIndicator>;
}

export function AllocationStatus({ status }: { status: Schemas["Status"] }) {
  return <Label look={ALLOCATION[status]} />;
}
