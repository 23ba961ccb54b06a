import type { QueryClient } from "@tanstack/react-query";
import { knownMe } from "../api/queries/session";
import { newestEntry } from "../api/queries/timeline";
import { markSeen } from "./news";
import { panel } from "./panel";
import { projectOf } from "./project";

/** What is listed when the panel opens, and what came until it closes, has been seen. */
export function startReading(queries: QueryClient): () => void {
  let wasOpen = false;
  return panel.subscribe(() => {
    const isOpen = panel.get()?.kind === "notifications";
    const me = knownMe(queries);
    const project = me && projectOf(me, undefined);
    const newest = project ? newestEntry(queries, project.id) : undefined;
    if (isOpen !== wasOpen && project && newest !== undefined) markSeen(project.id, newest);
    wasOpen = isOpen;
  });
}
