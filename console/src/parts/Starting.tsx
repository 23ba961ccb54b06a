import { useSyncExternalStore } from "react";
import { connection } from "../api/connection";

/** Before the first page is loaded: nothing to see, unless the server does not answer. */
export function Starting() {
  const { lostSince } = useSyncExternalStore(connection.subscribe, connection.snapshot);
  if (lostSince === null) return null;
  return (
    <p role="status" className="starting">
      The server does not answer. This page continues by itself when the server is back.
    </p>
  );
}
