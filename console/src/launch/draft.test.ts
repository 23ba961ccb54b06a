import { describe, expect, it } from "vitest";
import type { Sku } from "../api/queries/skus";
import type { SshKey } from "../api/queries/sshKeys";
import type { Volume } from "../api/queries/volumes";
import {
  type Choice,
  choose,
  type Draft,
  draftOf,
  EMPTY,
  freeOf,
  type KeptSubmission,
  newDraftVolume,
  pinned,
  submission,
  wanted,
} from "./draft";
import { firstWrong, mistakesOf, volumeObjection } from "./mistakes";
import { offersFor } from "./refusal";

const ROOM = { disk_gib: 20, init: "plain", shares_cpus: false, not_placeable: "" } as const;

const NOW = Date.parse("2026-01-01T00:00:00Z");

function sku(name: string, minor: number, free: Record<number, number>, region = "local"): Sku {
  const counts = Object.keys(free).map(Number);
  return {
    sku: name,
    title: name.toUpperCase(),
    shape: "gpu_slice",
    gpu_family: name,
    allowed_counts: counts,
    sizes: counts.flatMap((gpu_count) => [
      { name: "standard", gpu_count, vcpus: 8 * gpu_count, memory_mib: 65_536, ...ROOM },
      { name: "large", gpu_count, vcpus: 16 * gpu_count, memory_mib: 131_072, ...ROOM },
    ]),
    price_per_gpu_hour: { amount_minor: minor, currency: "EUR" },
    simulated: true,
    availability: counts.map((gpu_count) => ({ region, gpu_count, free: free[gpu_count] ?? 0 })),
  };
}

const key = (id: string) => ({ id, title: id }) as SshKey;
const CHEAP_BUT_GONE = sku("a100", 100, { 1: 0, 2: 0 });
const FREE = sku("h100", 200, { 1: 0, 2: 3, 4: 1 });
const DEAR = sku("h200", 300, { 1: 8, 2: 4 });
const SKUS = [DEAR, CHEAP_BUT_GONE, FREE];
const KEYS = [key("k1"), key("k2")];

function chosen(draft: Draft = EMPTY): Choice {
  const choice = choose(draft, SKUS, KEYS);
  if (choice === null) throw new Error("nothing on offer");
  return choice;
}

function counter(): () => string {
  let number = 0;
  return () => {
    number += 1;
    return `key-${number}`;
  };
}

describe("what is chosen when nothing was", () => {
  it("is the cheapest that can be had now, in the smallest count that is free, with all one's keys", () => {
    expect(chosen()).toMatchObject({
      sku: { sku: "h100" },
      gpuCount: 2,
      size: { name: "standard" },
      count: 1,
      region: null,
    });
    expect(chosen().keys.map(({ id }) => id)).toEqual(["k1", "k2"]);
  });

  it("is the first size that some node can host, or the first if none can", () => {
    const sizes = FREE.sizes.map((size) =>
      size.name === "standard" ? { ...size, not_placeable: "no node offers systemd" } : size,
    );
    expect(choose(EMPTY, [{ ...FREE, sizes }], KEYS)?.size?.name).toBe("large");
    const none = sizes.map((size) => ({ ...size, not_placeable: "no node offers systemd" }));
    expect(choose(EMPTY, [{ ...FREE, sizes: none }], KEYS)?.size?.name).toBe("standard");
    expect(choose({ ...EMPTY, size: "standard" }, [{ ...FREE, sizes }], KEYS)?.size?.name).toBe("standard");
  });

  it("is nothing when nothing is on offer", () => {
    expect(choose(EMPTY, [], KEYS)).toBeNull();
  });

  it("gives way to what was chosen, and keys that are gone are left out", () => {
    const draft = { ...EMPTY, sku: "h200", gpuCount: 2, size: "large", region: "mars", keyIds: ["k2", "gone"] };
    expect(chosen(draft)).toMatchObject({ sku: { sku: "h200" }, gpuCount: 2, size: { name: "large" }, region: "mars" });
    expect(chosen(draft).keys.map(({ id }) => id)).toEqual(["k2"]);
  });
});

describe("a pinned selection", () => {
  const taken = (of: Sku): Sku => ({
    ...of,
    availability: (of.availability ?? []).map((one) => ({ ...one, free: 0 })),
  });
  const draft = pinned(EMPTY, chosen());
  const later = (skus: Sku[]) => choose(draft, skus, KEYS);

  it("stays when the last of it is taken, with its price, and says that none is free", () => {
    const choice = later([DEAR, CHEAP_BUT_GONE, taken(FREE)]);
    expect(choice).toMatchObject({ sku: { sku: "h100", price_per_gpu_hour: { amount_minor: 200 } }, gpuCount: 2 });
    expect(choice && freeOf(choice.sku, 2)).toBe(0);
  });

  it("would have changed without the pin", () => {
    expect(choose(EMPTY, [DEAR, CHEAP_BUT_GONE, taken(FREE)], KEYS)).toMatchObject({ sku: { sku: "h200" } });
  });

  it("stays when it leaves the catalog, and cannot be launched", () => {
    const choice = later([DEAR]);
    expect(choice).toMatchObject({ sku: { sku: "h100" }, live: null });
    expect(choice && firstWrong(draft, choice, [])).toBe("compute");
  });

  it("keeps its price until the new one is accepted", () => {
    const dearer = { ...FREE, price_per_gpu_hour: { amount_minor: 900, currency: "EUR" } };
    const choice = later([DEAR, dearer]);
    expect(choice?.sku.price_per_gpu_hour.amount_minor).toBe(200);
    expect(choice && firstWrong(draft, choice, [])).toBe("review");
    const accepted = choose({ ...draft, offer: dearer }, [DEAR, dearer], KEYS);
    expect(accepted && firstWrong(draft, accepted, [])).toBeNull();
  });

  it("does not take over keys that are added later", () => {
    expect(choose(draft, SKUS, [...KEYS, key("k3")])?.keys.map(({ id }) => id)).toEqual(["k1", "k2"]);
  });
});

describe("a submission", () => {
  it("goes out again as the same request under the same key, also later", () => {
    const draft = { ...EMPTY, expiresInHours: "2", name: "train-a" };
    const newKey = counter();
    const first = submission(null, wanted(draft, chosen(draft), "proj-1"), NOW, newKey);
    const again = submission(first, wanted(draft, chosen(draft), "proj-1"), NOW + 60_000, newKey);
    expect(again).toEqual(first);
    expect(first.request.expires_at).toBe("2026-01-01T02:00:00.000Z");
  });

  it("has one key per visit, whatever changes in it", () => {
    const newKey = counter();
    const sent: KeptSubmission[] = [];
    const changes: Partial<Draft>[] = [{}, { name: "b" }, { count: "2" }, { keyIds: ["k1"] }, { expiresInHours: "3" }];
    for (const patch of changes) {
      const draft = { ...EMPTY, ...patch };
      sent.push(submission(sent.at(-1) ?? null, wanted(draft, chosen(draft), "proj-1"), NOW, newKey));
    }
    expect(new Set(sent.map((one) => one.key)).size).toBe(1);
    expect(new Set(sent.map((one) => JSON.stringify(one.request))).size).toBe(changes.length);
  });

  it("holds a new volume, an old one and the bundle that was chosen", () => {
    const fresh = { ...newDraftVolume("1", "/data"), name: "sets", sizeGib: "10" };
    const old = {
      ...newDraftVolume("2", "/mnt/old"),
      isNew: false,
      volumeId: "vol-1",
      accessMode: "read_only" as const,
    };
    const draft = { ...EMPTY, volumes: [fresh, old], bundleSlug: "pytorch" };
    expect(wanted(draft, chosen(draft), "proj-1").request).toMatchObject({
      runtime_bundle_slug: "pytorch",
      storage_attachments: [
        {
          mount_path: "/data",
          new_volume: { name: "sets", size_gib: 10, backend: "shared", write_policy: "single_writer" },
        },
        { mount_path: "/mnt/old", volume_id: "vol-1", access_mode: "read_only" },
      ],
    });
  });

  it("becomes a draft again that asks for the same", () => {
    const volume = { ...newDraftVolume("0", "/data"), name: "sets", sizeGib: "10" };
    const draft = {
      ...EMPTY,
      sku: "h200",
      gpuCount: 2,
      size: "large",
      count: "1",
      keyIds: ["k1"],
      name: "train-a",
      idleMinutes: "30",
    };
    const wish = wanted({ ...draft, volumes: [volume] }, chosen(draft), "proj-1");
    const again = draftOf(wish.request, NOW);
    expect(wanted(again, chosen(again), "proj-1")).toEqual(wish);
  });

  it("that was made with an end keeps what is left of it, and none when that is past", () => {
    const request = { sku: "h100", ssh_key_ids: ["k1"], gpu_count: 1, count: 1, expires_at: "2026-01-01T01:30:00Z" };
    expect(draftOf(request, NOW).expiresInHours).toBe("2");
    expect(draftOf(request, NOW + 86_400_000).expiresInHours).toBe("");
  });
});

describe("mistakes", () => {
  it("are none in a draft that nobody touched, if one has a key", () => {
    expect(firstWrong(EMPTY, chosen(), [])).toBeNull();
  });

  it("name the step and the field", () => {
    const noKeys = { ...EMPTY, keyIds: [] };
    expect(firstWrong(noKeys, chosen(noKeys), [])).toBe("access");
    const tooMany = { ...EMPTY, count: "65" };
    expect(mistakesOf("compute", tooMany, chosen(tooMany), []).count).toMatch(/from 1 to 64/);
    const idle = { ...EMPTY, idleMinutes: "4" };
    expect(mistakesOf("review", idle, chosen(idle), []).idleMinutes).toMatch(/from 5/);
  });

  it("are found in new volumes of a group", () => {
    const draft = { ...EMPTY, count: "2", volumes: [{ ...newDraftVolume("1", "/data"), name: "sets" }] };
    expect(mistakesOf("storage", draft, chosen(draft), [])["1.name"]).toMatch(/one machine/);
  });

  it("say who writes to a volume, and that reading is still possible", () => {
    const volume = {
      status: "available",
      write_policy: "single_writer",
      is_over_quota: false,
      attachments: [{ access_mode: "read_write", allocation_name: "train-a" }],
    } as unknown as Volume;
    expect(volumeObjection(volume, { accessMode: "read_write" })).toMatch(/train-a.*read-only/);
    expect(volumeObjection(volume, { accessMode: "read_only" })).toBeNull();
  });
});

describe("what would fit instead", () => {
  it("is nearest to the wish first, then another kind, each with what it fills in", () => {
    const draft = { ...EMPTY, sku: "h100", gpuCount: 2, count: "4" };
    const refusal = {
      kind: "no_capacity" as const,
      detail: "",
      blocked: {},
      would_fit: [
        { gpu_count: 4, count: 1, region: "local" },
        { gpu_count: 2, count: 3, region: "local" },
      ],
    };
    const offers = offersFor(refusal, chosen(draft), SKUS);
    expect(offers.map(({ label }) => label)).toEqual(["3 × 2 GPUs in local", "4 GPUs in local", "4 × 2 GPUs of H200"]);
    expect(offers[0]?.patch).toEqual({ gpuCount: 2, count: "3", region: "local", size: null });
    expect(offers[2]?.patch).toMatchObject({ sku: "h200", gpuCount: 2 });
  });
});
