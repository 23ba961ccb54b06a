import type { LaunchRequest, Submission } from "../api/queries/launch";
import type { Sku } from "../api/queries/skus";
import type { SshKey } from "../api/queries/sshKeys";
import type { components } from "../api/schema";
import type { Addition } from "../parts/quotaWords";
import { wholeNumber } from "./checks";

type Schemas = components["schemas"];
export type Size = Schemas["Size"];

/** A volume to be mounted on the new machine: one there is, or one to be made with it. */
export interface DraftVolume {
  /** Only for the page, to tell the rows apart. */
  row: string;
  volumeId: string | null;
  isNew: boolean;
  name: string;
  sizeGib: string;
  backend: Schemas["Backend"];
  writePolicy: Schemas["WritePolicy"];
  mountPath: string;
  accessMode: Schemas["AccessMode"];
}

/** What a person chose, as typed; null is "not chosen, take what is sensible". */
export interface Draft {
  sku: string | null;
  /** The SKU as it was when it was chosen, with its price: what changes later is shown, never taken over silently. */
  offer: Sku | null;
  gpuCount: number | null;
  size: string | null;
  count: string;
  region: string | null;
  keyIds: string[] | null;
  volumes: DraftVolume[];
  bundleSlug: string | null;
  /** An exact version, as a retry brings it. */
  bundleId: string | null;
  name: string;
  expiresInHours: string;
  idleMinutes: string;
}

export const EMPTY: Draft = {
  sku: null,
  offer: null,
  gpuCount: null,
  size: null,
  count: "1",
  region: null,
  keyIds: null,
  volumes: [],
  bundleSlug: null,
  bundleId: null,
  name: "",
  expiresInHours: "",
  idleMinutes: "",
};

export const COUNT = { least: 1, most: 64 };
export const HOURS = { least: 1, most: 8_760 };
export const IDLE = { least: 5, most: 43_200 };
const MOST_KEYS = 20;

/** A draft with every choice made: what the pages show and what is sent. */
export interface Choice {
  /** As it was chosen, with the price of that moment; only what is free is live. */
  sku: Sku;
  /** As it is sold now; null when it is no longer offered. */
  live: Sku | null;
  gpuCount: number;
  size: Size | undefined;
  count: number;
  region: string | null;
  keys: SshKey[];
}

/** What was chosen; where nothing was chosen yet, the cheapest SKU that is available now, with all keys of the person. */
export function choose(draft: Draft, skus: readonly Sku[], keys: readonly SshKey[]): Choice | null {
  const usual = usualSku(skus);
  const live = draft.sku === null ? usual : skus.find((each) => each.sku === draft.sku);
  const sku =
    draft.offer?.sku === draft.sku && draft.offer
      ? { ...draft.offer, availability: live?.availability ?? [] }
      : (live ?? usual);
  if (sku === undefined) return null;
  const gpuCount =
    draft.gpuCount !== null && sku.allowed_counts.includes(draft.gpuCount) ? draft.gpuCount : usualCount(sku);
  const sizes = sizesOf(sku, gpuCount);
  return {
    sku,
    live: live ?? null,
    gpuCount,
    size: sizes.find(({ name }) => name === draft.size) ?? sizes.find((size) => !size.not_placeable) ?? sizes[0],
    count: wholeNumber(draft.count, COUNT.least, COUNT.most) ?? 1,
    region: draft.region,
    keys: draft.keyIds === null ? keys.slice(0, MOST_KEYS) : keys.filter(({ id }) => draft.keyIds?.includes(id)),
  };
}

/** The draft with the selection written down: from here on availability and prices change nothing in it. */
export function pinned(draft: Draft, choice: Choice): Draft {
  if (draft.offer !== null || choice.live === null) return draft;
  const keyIds = choice.keys.map(({ id }) => id);
  return {
    ...draft,
    sku: choice.sku.sku,
    offer: choice.sku,
    gpuCount: choice.gpuCount,
    keyIds: draft.keyIds ?? (keyIds.length > 0 ? keyIds : null),
  };
}

/** Choosing a SKU: in the smallest GPU count that is available at this moment. */
export function chosenSku(sku: Sku): Pick<Draft, "sku" | "offer" | "gpuCount" | "size"> {
  return { sku: sku.sku, offer: sku, gpuCount: usualCount(sku), size: null };
}

/** Whether the price of the SKU changed since it was chosen. */
export function isRepriced({ sku, live }: Choice): boolean {
  const [then, now] = [sku.price_per_gpu_hour, live?.price_per_gpu_hour ?? sku.price_per_gpu_hour];
  return then.amount_minor !== now.amount_minor || then.currency !== now.currency;
}

/** What the launch adds to what the project has. */
export function additionOf({ count, gpuCount, size }: Choice, volumes: readonly DraftVolume[]): Addition {
  const made = volumes.filter(({ isNew }) => isNew);
  return {
    machines: count,
    gpus: count * gpuCount,
    vcpus: count * (size?.vcpus ?? 0),
    memoryMib: count * (size?.memory_mib ?? 0),
    newVolumes: made.length,
    newGib: made.reduce((sum, { sizeGib }) => sum + (Number(sizeGib) || 0), 0),
  };
}

export function sizesOf(sku: Sku, gpuCount: number): Size[] {
  return sku.sizes.filter((size) => size.gpu_count === gpuCount);
}

export function regionsOf(sku: Sku): string[] {
  return [...new Set((sku.availability ?? []).map(({ region }) => region))];
}

/** How many machines of this GPU count could be had now, in one region or in all. */
export function freeOf(sku: Sku, gpuCount: number, region: string | null = null): number {
  return (sku.availability ?? [])
    .filter((each) => each.gpu_count === gpuCount && (region === null || each.region === region))
    .reduce((sum, { free }) => sum + free, 0);
}

/** The cheapest that can be had now. */
function usualSku(skus: readonly Sku[]): Sku | undefined {
  const byPrice = [...skus].sort((a, b) => a.price_per_gpu_hour.amount_minor - b.price_per_gpu_hour.amount_minor);
  return byPrice.find((sku) => sku.shape === "gpu_slice" && isFree(sku)) ?? byPrice.find(isFree) ?? byPrice[0];
}

export function isFree(sku: Sku): boolean {
  return (sku.availability ?? []).some(({ free }) => free > 0);
}

function usualCount(sku: Sku): number {
  const counts = [...sku.allowed_counts].sort((a, b) => a - b);
  return counts.find((count) => freeOf(sku, count) > 0) ?? counts[0] ?? 1;
}

/** Everything of the request but the moment it ends, which is counted from when it is first sent. */
export interface Wanted {
  request: LaunchRequest;
  expiresInHours: number | null;
}

export function wanted(draft: Draft, choice: Choice, projectId: string): Wanted {
  const idle = wholeNumber(draft.idleMinutes, IDLE.least, IDLE.most);
  return {
    request: {
      project_id: projectId,
      sku: choice.sku.sku,
      gpu_count: choice.gpuCount,
      ...(choice.size ? { size: choice.size.name } : {}),
      count: choice.count,
      ...(choice.region ? { region: choice.region } : {}),
      ssh_key_ids: choice.keys.map(({ id }) => id),
      ...(draft.name ? { name: draft.name } : {}),
      ...(idle === null ? {} : { idle_minutes: idle }),
      ...(draft.bundleId
        ? { runtime_bundle_id: draft.bundleId }
        : draft.bundleSlug
          ? { runtime_bundle_slug: draft.bundleSlug }
          : {}),
      storage_attachments: draft.volumes.map(attachmentOf),
    },
    expiresInHours: wholeNumber(draft.expiresInHours, HOURS.least, HOURS.most),
  };
}

function attachmentOf(volume: DraftVolume): Schemas["LaunchAttachment"] {
  const { mountPath: mount_path, accessMode: access_mode } = volume;
  if (!volume.isNew) return { mount_path, access_mode, volume_id: volume.volumeId ?? "" };
  return {
    mount_path,
    access_mode,
    new_volume: {
      name: volume.name,
      size_gib: Number(volume.sizeGib),
      backend: volume.backend,
      write_policy: volume.writePolicy,
    },
  };
}

/** A submission that knows what it is of: the same wish goes out again as the same request. */
export interface KeptSubmission extends Submission {
  of: string;
}

const HOUR_MS = 3_600_000;

/** One key for the whole visit, also when the wish changes: a visit makes at most one request succeed. */
export function submission(
  before: KeptSubmission | null,
  wish: Wanted,
  now: number,
  newKey: () => string,
): KeptSubmission {
  const of = JSON.stringify(wish);
  if (before?.of === of) return before;
  const ends =
    wish.expiresInHours === null ? {} : { expires_at: new Date(now + wish.expiresInHours * HOUR_MS).toISOString() };
  return { of, key: before?.key ?? newKey(), request: { ...wish.request, ...ends } };
}

/** A request that was made before, to be looked at and sent again. */
export function draftOf(request: LaunchRequest, now: number): Draft {
  const left = request.expires_at ? Math.ceil((Date.parse(request.expires_at) - now) / HOUR_MS) : 0;
  return {
    ...EMPTY,
    sku: request.sku,
    gpuCount: request.gpu_count ?? 1,
    size: request.size ?? null,
    count: String(request.count ?? 1),
    region: request.region ?? null,
    keyIds: [...request.ssh_key_ids],
    volumes: (request.storage_attachments ?? []).map(draftVolumeOf),
    bundleSlug: request.runtime_bundle_slug ?? null,
    bundleId: request.runtime_bundle_id ?? null,
    name: request.name ?? "",
    expiresInHours: left > 0 ? String(left) : "",
    idleMinutes: request.idle_minutes ? String(request.idle_minutes) : "",
  };
}

export function newDraftVolume(row: string, mountPath: string): DraftVolume {
  return {
    row,
    volumeId: null,
    isNew: true,
    name: "",
    sizeGib: "100",
    backend: "shared",
    writePolicy: "single_writer",
    mountPath,
    accessMode: "read_write",
  };
}

function draftVolumeOf(attachment: Schemas["LaunchAttachment"], index: number): DraftVolume {
  const plain = newDraftVolume(String(index), attachment.mount_path);
  const accessMode = attachment.access_mode ?? "read_write";
  const made = attachment.new_volume;
  if (!made) return { ...plain, accessMode, isNew: false, volumeId: attachment.volume_id ?? null };
  return {
    ...plain,
    accessMode,
    name: made.name,
    sizeGib: String(made.size_gib),
    backend: made.backend ?? "shared",
    writePolicy: made.write_policy ?? "single_writer",
  };
}
