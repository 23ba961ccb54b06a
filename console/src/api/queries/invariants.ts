import { useQuery } from "@tanstack/react-query";
import { answer, client } from "../client";
import type { components } from "../schema";
import { WATCHED } from "../watching";

export type Invariant = components["schemas"]["Invariant"];
export type Violation = components["schemas"]["Violation"];

export function useInvariants() {
  return useQuery({
    queryKey: ["invariants"],
    queryFn: async () => (await answer(client.GET("/api/v1/admin/invariants"))).items,
    ...WATCHED,
  });
}
