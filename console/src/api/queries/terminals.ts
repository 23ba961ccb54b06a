import { useQuery } from "@tanstack/react-query";
import { answer, client, everyPage } from "../client";
import type { components } from "../schema";

export type Terminal = components["schemas"]["Terminal"];
export type TerminalToken = components["schemas"]["TerminalToken"];

const SUBPROTOCOL = "gpuaas.terminal.v1";

/** A token for one socket; with a session id it leads back into a terminal that is open. */
export function mintTerminalToken(
  allocationId: string,
  sessionId: string | null,
  record: boolean,
): Promise<TerminalToken> {
  return answer(
    client.POST("/api/v1/allocations/{id}/terminal-token", {
      params: { path: { id: allocationId } },
      body: { record, ...(sessionId === null ? {} : { session_id: sessionId }) },
    }),
  );
}

/** At the address this page came from: a name in front of the server is as good for a socket as for the page. */
export function dialTerminal(allocationId: string, token: string): WebSocket {
  const origin = window.location.origin.replace(/^http/, "ws");
  return new WebSocket(`${origin}/api/v1/terminal/${allocationId}`, [SUBPROTOCOL, token]);
}

/** Those opened on a machine, also those that ended. */
export function useTerminals(allocationId: string) {
  return useQuery({
    queryKey: ["terminals", allocationId],
    queryFn: () =>
      everyPage((page) =>
        answer(
          client.GET("/api/v1/allocations/{id}/terminals", {
            params: { path: { id: allocationId }, query: page },
          }),
        ),
      ),
  });
}

/** Where the browser fetches what a recorded terminal showed. */
export function recordingAddress({ allocation_id, id }: Terminal): string {
  return `/api/v1/allocations/${allocation_id}/terminals/${id}/recording`;
}
