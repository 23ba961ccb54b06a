import { connection } from "./api/connection";

const KEPT = "gpuaas-began-anew";
const PAUSE_MS = 15_000;

/**
 * A part of the page that cannot be loaded is of a build that was replaced, or the network failed just then. Once the server
 * answers the page begins anew, and finds it; not twice in a row, so that what is really broken is shown.
 */
export function beginAnewForMissingParts(): void {
  window.addEventListener("vite:preloadError", () => {
    connection.onComeback(beginAnew);
    connection.lost();
  });
}

function beginAnew(): void {
  const last = Number(sessionStorage.getItem(KEPT) ?? 0);
  if (Date.now() - last < PAUSE_MS) return;
  sessionStorage.setItem(KEPT, String(Date.now()));
  window.location.reload();
}
