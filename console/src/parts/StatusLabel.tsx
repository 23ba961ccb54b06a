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

export const INTENT: Record<Schemas["Intent"], Look> = {
  enrolling: ["pending", "Waiting for its machine"],
  active: ["success", "Active"],
  draining: ["in-progress", "Draining"],
  quarantined: ["warning", "Quarantined"],
  retired: ["stopped", "Retired"],
};

/** Whether a base image is up to date. */
export const IMAGE: Record<"fresh" | "failed" | "outdated", Look> = {
  fresh: ["success", "Up to date"],
  failed: ["error", "Rebuild failed"],
  outdated: ["warning", "Outdated"],
};

export const BUNDLE: Record<Schemas["BundleState"], Look> = {
  published: ["success", "Published"],
  deprecated: ["warning", "Deprecated"],
  retired: ["stopped", "Retired"],
};

export const STAGING: Record<Schemas["StagingStatus"], Look> = {
  staging: ["in-progress", "Staging"],
  staged: ["success", "Staged"],
  failed: ["error", "Failed"],
  removing: ["in-progress", "Removing"],
  removed: ["stopped", "Removed"],
};

export const OUTCOME: Record<Schemas["Outcome"], Look> = {
  began: ["info", "Began"],
  done: ["success", "Done"],
  failed: ["error", "Failed"],
};

export const BILLING: Record<Schemas["BillingState"], Look> = {
  not_started: ["pending", "Not started"],
  running: ["success", "Running"],
  stopped: ["stopped", "Stopped"],
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

/** What the node confirmed about a key that should be admitted. */
export const OBSERVED: Record<"admitted" | "pending", Look> = {
  admitted: ["success", "Admitted"],
  pending: ["in-progress", "Waiting for the node"],
};

export const VOLUME: Record<Schemas["VolumeStatus"], Look> = {
  creating: ["in-progress", "Being made"],
  available: ["success", "Available"],
  failed: ["error", "Failed"],
  deleting: ["in-progress", "Being deleted"],
  delete_failed: ["error", "Delete failed"],
  deleted: ["stopped", "Deleted"],
};

export const SNAPSHOT: Record<Schemas["SnapshotStatus"], Look> = {
  creating: ["in-progress", "Being taken"],
  ready: ["success", "Ready"],
  failed: ["error", "Failed"],
  deleting: ["in-progress", "Being deleted"],
  deleted: ["stopped", "Deleted"],
};

export const ATTACHMENT: Record<Schemas["AttachmentStatus"], Look> = {
  attaching: ["in-progress", "Attaching"],
  attached: ["success", "Attached"],
  detaching: ["in-progress", "Detaching"],
  detach_failed: ["warning", "In use, not detached"],
  detached: ["stopped", "Detached"],
  failed: ["error", "Failed"],
};

export const RUNTIME: Record<Schemas["RuntimeState"], Look> = {
  applying: ["in-progress", "Being applied"],
  applied: ["success", "Applied"],
  failed: ["error", "Failed"],
  clearing: ["in-progress", "Being removed"],
  cleared: ["stopped", "None: raw compute"],
};

export const AUDIT: Record<Schemas["AuditResult"], Look> = {
  done: ["success", "Done"],
  denied: ["stopped", "Refused"],
};

export function Label({ look: [type, words] }: { look: Look }) {
  return <StatusIndicator type={type}>{words}</StatusIndicator>;
}

export function AllocationStatus({ status }: { status: Schemas["Status"] }) {
  return <Label look={ALLOCATION[status]} />;
}
