import type { FlashbarProps } from "@cloudscape-design/components/flashbar";
import type { ReactNode } from "react";
import { newId } from "../api/client";
import type { Problem } from "../api/problem";
import { nextStep } from "../parts/problems";
import { Store } from "./store";

export interface Notice {
  id: string;
  type: FlashbarProps.Type;
  header: string;
  content?: ReactNode;
}

const MOST = 5;

/** What the page has to say that belongs to no place on it; stays until put away. */
export const notices = new Store<readonly Notice[]>([]);

export function notify(type: FlashbarProps.Type, header: string, content?: ReactNode): void {
  const notice = { id: newId(), type, header, content };
  notices.set([notice, ...notices.get()].slice(0, MOST));
}

export function notifyProblem(problem: Problem): void {
  const said = problem.correlationId
    ? `${problem.message} (${problem.code}, ${problem.correlationId})`
    : problem.message;
  notify("error", nextStep(problem.code).title, said);
}

export function putAway(id: string): void {
  notices.set(notices.get().filter((notice) => notice.id !== id));
}
