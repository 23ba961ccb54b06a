import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { answer, client, everyPage, keyed } from "../client";
import type { components } from "../schema";

export type SshKey = components["schemas"]["SshKey"];
export type NewSshKey = components["schemas"]["AddSshKey"];

const sshKeyKeys = { list: ["ssh-keys"] as const };

/** The public keys of who is signed in. */
export function useSshKeys(isWanted = true) {
  return useQuery({
    enabled: isWanted,
    queryKey: sshKeyKeys.list,
    queryFn: () => everyPage((page) => answer(client.GET("/api/v1/ssh-keys", { params: { query: page } }))),
  });
}

export function useAddSshKey() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (body: NewSshKey) => answer(client.POST("/api/v1/ssh-keys", { body, params: { header: keyed() } })),
    onSuccess: (added) => {
      // Shown at once: who added it wants to choose it now.
      queries.setQueryData<SshKey[]>(sshKeyKeys.list, (keys) => (keys ? [added, ...keys] : keys));
      return queries.invalidateQueries({ queryKey: sshKeyKeys.list });
    },
  });
}

export function useRemoveSshKey() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (id: string) => answer(client.DELETE("/api/v1/ssh-keys/{id}", { params: { path: { id } } })),
    onSuccess: () => queries.invalidateQueries({ queryKey: sshKeyKeys.list }),
  });
}
