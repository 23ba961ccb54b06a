import { UNREACHABLE } from "../api/problem";

interface Step {
  title: string;
  next?: string;
}

const STEPS: Record<string, Step> = {
  [UNREACHABLE]: { title: "The server does not answer" },
  token_missing: { title: "You are signed out", next: "Sign in again to go on." },
  token_invalid: { title: "Your session has ended", next: "Sign in again to go on." },
  token_expired: { title: "Your session has ended", next: "Sign in again to go on." },
  credentials_invalid: { title: "E-mail or password is wrong" },
  insufficient_permissions: { title: "You may not do this", next: "Ask an owner or admin of the project." },
  sku_unavailable: { title: "No machine like this is free" },
  illegal_move: { title: "Not possible in its present state", next: "The page shows the state it is in now." },
  conflict: { title: "That clashes with something that is there" },
  suspended: { title: "Suspended by an operator", next: "Your data is kept. Contact whoever runs this GPUaaS." },
  quota_exceeded: {
    title: "This exceeds a quota",
    next: "Release or delete something, or ask an operator to raise the limit. The Quota page shows what remains.",
  },
  node_disk_full: { title: "The node has too little disk left" },
  resize_unavailable: { title: "This node cannot hold that size" },
  ssh_key_invalid: { title: "This is not a key we can accept" },
  mount_path_refused: { title: "A volume cannot be mounted there" },
  volume_in_use: { title: "Another machine writes to this volume" },
  volume_on_another_node: { title: "The volume is on another node's disk" },
  volume_over_quota: { title: "The volume is fuller than its size" },
  volume_not_ready: { title: "The volume is not ready" },
  volume_protected: { title: "The volume is protected" },
  multi_writer_unavailable: { title: "Only one writer is offered here" },
  bundle_incompatible: { title: "This bundle does not fit this machine" },
  no_way_in: { title: "Nobody could get in any more", next: "Leave at least one key." },
  request_in_progress: { title: "The same request is still running", next: "Wait a second, then look." },
  idempotency_key_reused: {
    title: "An earlier request from this page was accepted",
    next: "Open Machines to see it. To launch another one, start a new launch.",
  },
  rate_limit_exceeded: { title: "Too many tries" },
  validation_error: { title: "Something in the form is not right" },
  database_unavailable: { title: "The database does not answer", next: "Nothing was changed." },
  internal_error: { title: "This is our fault", next: "Tell an operator the correlation id below." },
  console_bug: { title: "This page made a mistake", next: "Reload it. If it stays, tell an operator what you did." },
};

/** The heading and the next step for a problem's stable code. */
export function nextStep(code: string): Step {
  if (code.endsWith("_not_found")) {
    return { title: "Not found", next: "It is not there, or it is not yours to see." };
  }
  return STEPS[code] ?? { title: "That did not work" };
}
