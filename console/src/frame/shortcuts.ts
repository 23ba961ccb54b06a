import type { QueryClient } from "@tanstack/react-query";
import { matchPath } from "react-router";
import { knownMe } from "../api/queries/session";
import { pagesFor } from "./Navigation";
import { togglePanel } from "./panel";
import { projectOf } from "./project";

export const SEARCH_LABEL = "Search";
const SECOND_KEY_MS = 1_500;

/** Keys that do something anywhere but in a field; `g` and a letter goes to a page. */
export function startShortcuts(queries: QueryClient, go: (path: string) => void): () => void {
  let goingSince = 0;
  const onKey = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || isTyping(event.target)) return;
    const isSecond = event.timeStamp - goingSince < SECOND_KEY_MS;
    goingSince = event.key === "g" && !isSecond ? event.timeStamp : 0;
    if (isSecond ? goTo(event.key) : act(event.key)) event.preventDefault();
  };
  document.addEventListener("keydown", onKey);
  return () => document.removeEventListener("keydown", onKey);

  function goTo(key: string): boolean {
    const me = knownMe(queries);
    const shown = matchPath("/projects/:projectId/*", window.location.pathname)?.params.projectId;
    const page = me && pagesFor(me, projectOf(me, shown)).find((each) => each.key === key);
    if (page) go(page.href);
    return page !== undefined;
  }
}

function act(key: string): boolean {
  if (key === "/") focusSearch();
  else if (key === "?") togglePanel({ kind: "shortcuts" });
  else if (key === "n") togglePanel({ kind: "notifications" });
  else return false;
  return true;
}

/** The bar holds the field twice, once to measure what fits. */
function focusSearch(): void {
  const fields = document.querySelectorAll<HTMLElement>(`#top input[aria-label="${SEARCH_LABEL}"]`);
  for (const field of fields) if (field.checkVisibility({ visibilityProperty: true })) field.focus();
}

/** Letters belong to whoever is typing, and to open dialogs. */
function isTyping(target: EventTarget | null): boolean {
  for (const dialog of document.querySelectorAll("[role=dialog]")) if (dialog.checkVisibility()) return true;
  return target instanceof HTMLElement && target.matches("input, textarea, select, [contenteditable], .xterm *");
}
