import HelpPanel from "@cloudscape-design/components/help-panel";
import { Notifications } from "./Notifications";
import type { Panel } from "./panel";
import { ShortcutList } from "./ShortcutList";
import "./panel.css";

/** Beside the page: help on it, what happened lately, or what the keys do. */
export function SidePanel({ shown }: { shown: Panel }) {
  if (shown.kind === "notifications") return <Notifications />;
  if (shown.kind === "shortcuts") return <ShortcutList />;
  return <HelpPanel header={<h2>{shown.title}</h2>}>{shown.text}</HelpPanel>;
}
