import { useQuery } from "@tanstack/react-query";
import { answer, client } from "../client";
import type { components } from "../schema";
import { WATCHED } from "../watching";

export type Overview = components["schemas"]["Overview"];

export function useOverview() {
  return useQuery({
    queryKey: ["overview"],
    queryFn: () => answer(client.GET("/api/v1/admin/overview")),
    ...WATCHED,
  });
}
