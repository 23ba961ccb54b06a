import { MutationCache, QueryCache, QueryClient } from "@tanstack/react-query";
import { asProblem, UNREACHABLE } from "./problem";

const TRIES = 3;
const FALLBACK_POLL_MS = 10_000;

/** Whoever notices first that the session has ended, or that something is suspended, has the account read again, so
 * that the frame says so at once. */
function heedEnd(error: Error): void {
  const me = queries.getQueryState(["me"]);
  const { code } = asProblem(error);
  if ((code.startsWith("token_") || code === "suspended") && me?.status === "success") {
    void queries.invalidateQueries({ queryKey: ["me"] });
  }
}

/** Events say when to ask again; asking every ten seconds is for when they do not come. */
export const queries: QueryClient = new QueryClient({
  queryCache: new QueryCache({ onError: heedEnd }),
  mutationCache: new MutationCache({ onError: heedEnd }),
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      refetchInterval: FALLBACK_POLL_MS,
      networkMode: "always", // the browser's idea of being online says nothing of our server
      retry: (count, error) => {
        const { status, code } = asProblem(error);
        return count < TRIES && code !== UNREACHABLE && (status === 0 || status >= 500);
      },
    },
    mutations: { networkMode: "always" },
  },
});
