import { useMemo } from "react";
import { Store, useStore } from "../frame/store";
import { type Draft, EMPTY, type KeptSubmission } from "./draft";

interface Kept {
  draft: Draft;
  submission: KeptSubmission | null;
}

const NOTHING: Kept = { draft: EMPTY, submission: null };
const stores = new Map<string, Store<Kept>>();
const keyOf = (projectId: string) => `gpuaas-launch-${projectId}`;

/** The draft of a project, in this tab: it outlives a reload, a server that is away, and looking at another page. */
function storeOf(projectId: string): Store<Kept> {
  const known = stores.get(projectId);
  if (known) return known;
  const store = new Store<Kept>(read(projectId));
  stores.set(projectId, store);
  return store;
}

function read(projectId: string): Kept {
  try {
    const { draft, submission } = JSON.parse(sessionStorage.getItem(keyOf(projectId)) ?? "{}") as Partial<Kept>;
    return { draft: { ...EMPTY, ...draft }, submission: submission ?? null };
  } catch {
    return NOTHING;
  }
}

function keep(projectId: string, kept: Kept): void {
  storeOf(projectId).set(kept);
  sessionStorage.setItem(keyOf(projectId), JSON.stringify(kept));
}

export function startDraft(projectId: string, draft: Draft): void {
  keep(projectId, { draft, submission: null });
}

export function draftNow(projectId: string): Draft {
  return storeOf(projectId).get().draft;
}

export function submissionNow(projectId: string): KeptSubmission | null {
  return storeOf(projectId).get().submission;
}

export function keepSubmission(projectId: string, submission: KeptSubmission): void {
  keep(projectId, { draft: draftNow(projectId), submission });
}

export function forgetDraft(projectId: string): void {
  storeOf(projectId).set(NOTHING);
  sessionStorage.removeItem(keyOf(projectId));
}

export type ChangeDraft = (patch: Partial<Draft>) => void;

export function useDraft(projectId: string): [Draft, ChangeDraft] {
  const { draft } = useStore(storeOf(projectId));
  const change = useMemo<ChangeDraft>(
    () => (patch) =>
      keep(projectId, { draft: { ...draftNow(projectId), ...patch }, submission: submissionNow(projectId) }),
    [projectId],
  );
  return [draft, change];
}
