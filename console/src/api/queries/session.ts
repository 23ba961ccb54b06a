import { type QueryClient, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { answer, client, everyPage } from "../client";
import type { components } from "../schema";
import { onTold, tellTabs } from "../tabs";

type Schemas = components["schemas"];
export type Me = Schemas["Me"];
export type Credentials = Schemas["Login"];
export type Session = Schemas["Session"];

const ME = ["me"] as const;
const SIGN_INS = ["sign-ins"] as const;

/** Who is signed in; a Problem with status 401 when nobody is. */
const asked = { queryKey: ME, queryFn: () => answer(client.GET("/api/v1/me")), staleTime: 60_000 };

export function useMe() {
  return useQuery(asked);
}

/** While the pages are still on their way. */
export function askMeEarly(queries: QueryClient): void {
  void queries.prefetchQuery(asked);
}

/** Who was signed in when last asked. */
export function knownMe(queries: QueryClient): Me | undefined {
  return queries.getQueryData<Me>(ME);
}

/** After a membership came or went. */
export function refreshMe(queries: QueryClient): Promise<void> {
  return queries.invalidateQueries({ queryKey: ME });
}

export function useLogin() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (body: Credentials) => answer(client.POST("/api/v1/auth/personal/login", { body })),
    onSuccess: ({ user }) => entered(queries, user.id),
  });
}

export function useSignUp() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (body: Credentials) => answer(client.POST("/api/v1/auth/personal/signup", { body })),
    onSuccess: ({ user }) => entered(queries, user.id),
  });
}

/** The same person goes on where they were; nothing that somebody else saw here is shown to another. */
async function entered(queries: QueryClient, userId: string): Promise<void> {
  tellTabs({ said: "signed-in", userId });
  await changedTo(queries, userId);
}

async function changedTo(queries: QueryClient, userId: string): Promise<void> {
  const known = knownMe(queries);
  if (known === undefined || known.user.id === userId) {
    await queries.invalidateQueries();
  } else {
    sessionStorage.clear();
    window.location.assign("/");
  }
}

export function useLogout() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: () => answer(client.POST("/api/v1/auth/logout")),
    onSuccess: () => {
      tellTabs({ said: "signed-out" });
      forget(queries);
    },
  });
}

/** Nothing that was seen while signed in stays in this page. */
function forget(queries: QueryClient): void {
  sessionStorage.clear();
  queries.clear();
  window.location.assign("/login?left=1");
}

/** What other tabs do to the session happens here too. */
export function heedOtherTabs(queries: QueryClient): void {
  onTold((word) => {
    if (word.said === "signed-in") void changedTo(queries, word.userId);
    else if (window.location.pathname !== "/login") forget(queries);
  });
}

/** Where one is signed in. */
export function useSignIns() {
  return useQuery({
    queryKey: SIGN_INS,
    queryFn: () => everyPage((page) => answer(client.GET("/api/v1/auth/sessions", { params: { query: page } }))),
  });
}

/** Signs out elsewhere, at once. */
export function useEndSignIns() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: async (ids: readonly string[]) => {
      for (const id of ids) await answer(client.DELETE("/api/v1/auth/sessions/{id}", { params: { path: { id } } }));
    },
    onSettled: () => queries.invalidateQueries({ queryKey: SIGN_INS }),
  });
}
