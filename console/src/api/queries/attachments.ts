import { type QueryClient, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { answer, client, everyPage, keyed } from "../client";
import type { components } from "../schema";
import { allocationKeys } from "./allocations";
import { volumeKeys } from "./volumes";

type Schemas = components["schemas"];
export type Attachment = Schemas["Attachment"];
export type AttachVolume = Schemas["AttachVolume"];

const attachmentKeys = { of: (allocationId: string) => ["attachments", allocationId] as const };

/** What is and was attached to a machine, newest first. */
export function useAttachments(allocationId: string) {
  return useQuery({
    queryKey: attachmentKeys.of(allocationId),
    queryFn: () =>
      everyPage((page) =>
        answer(
          client.GET("/api/v1/allocations/{allocation_id}/storage-attachments", {
            params: { path: { allocation_id: allocationId }, query: page },
          }),
        ),
      ),
  });
}

interface Machine {
  id: string;
  project_id: string;
}

export function useAttachVolume(machine: Machine) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (body: AttachVolume) =>
      answer(
        client.POST("/api/v1/allocations/{allocation_id}/storage-attachments", {
          params: { path: { allocation_id: machine.id }, header: keyed() },
          body,
        }),
      ),
    onSuccess: ({ volume_id }) => lookAgain(queries, machine, volume_id),
  });
}

export interface Detach {
  id: string;
  volume_id: string;
  force: boolean;
}

export function useDetachVolume(machine: Machine) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: ({ id, force }: Detach) =>
      answer(
        client.DELETE("/api/v1/allocations/{allocation_id}/storage-attachments/{attachment_id}", {
          params: { path: { allocation_id: machine.id, attachment_id: id }, query: { force }, header: keyed() },
        }),
      ),
    onSuccess: ({ volume_id }) => lookAgain(queries, machine, volume_id),
  });
}

/** An attachment is seen from three sides: the machine's, the volume's, and the list of volumes. */
async function lookAgain(queries: QueryClient, machine: Machine, volumeId: string): Promise<void> {
  await Promise.all([
    queries.invalidateQueries({ queryKey: attachmentKeys.of(machine.id) }),
    queries.invalidateQueries({ queryKey: allocationKeys.one(machine.id) }),
    queries.invalidateQueries({ queryKey: volumeKeys.one(volumeId) }),
    queries.invalidateQueries({ queryKey: volumeKeys.list(machine.project_id) }),
  ]);
}
