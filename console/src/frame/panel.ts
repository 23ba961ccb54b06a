import { Store } from "./store";

/** What the panel beside the page shows. */
export type Panel = { kind: "help"; title: string; text: string } | { kind: "notifications" } | { kind: "shortcuts" };

/** Null while it is closed. */
export const panel = new Store<Panel | null>(null);

/** On a narrow screen the panel covers the page: who follows a link in it wants to see where it leads. */
export function uncoverPage(): void {
  if (window.matchMedia("(max-width: 688px)").matches) panel.set(null);
}

export function togglePanel(wanted: Panel): void {
  panel.set(panel.get()?.kind === wanted.kind ? null : wanted);
}
