import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { answer, client, keyed } from "../client";
import type { components } from "../schema";
import { WATCHED } from "../watching";

export type WorkerStatus = components["schemas"]["WorkerStatus"];

const WORKERS = ["workers"] as const;

export function useWorkers() {
  return useQuery({
    queryKey: WORKERS,
    queryFn: async () => (await answer(client.GET("/api/v1/admin/workers"))).items,
    ...WATCHED,
  });
}

interface Switch {
  worker: string;
  on: boolean;
  reason: string;
}

export function useSwitchWorker() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: ({ worker, on, reason }: Switch) => {
      const asked = {
        params: { path: { worker }, header: keyed() },
        body: { reason },
      };
      return answer(
        on
          ? client.POST("/api/v1/admin/workers/{worker}/enable", asked)
          : client.POST("/api/v1/admin/workers/{worker}/disable", asked),
      );
    },
    onSuccess: () => queries.invalidateQueries({ queryKey: WORKERS }),
  });
}
