import type { QuotaLine } from "../api/queries/quotas";

const MIB_PER_GIB = 1_024;

/** What is limited, as a heading, and the unit of its numbers. */
const WORDS: Record<QuotaLine["dimension"], { label: string; unit: string }> = {
  allocations: { label: "Allocations", unit: "" },
  gpus: { label: "GPUs", unit: "" },
  vcpus: { label: "vCPU", unit: "" },
  memory_mib: { label: "Memory", unit: "GiB" },
  volumes: { label: "Volumes", unit: "" },
  storage_gib: { label: "Volume storage", unit: "GiB" },
  snapshots: { label: "Snapshots", unit: "" },
  projects: { label: "Projects", unit: "" },
  tokens: { label: "Tokens", unit: "" },
  ssh_keys: { label: "SSH keys", unit: "" },
  streams: { label: "Open streams", unit: "" },
};

const LIMITED_BY: Record<NonNullable<QuotaLine["limited_by"]>, string> = {
  platform: "Platform default",
  tenant: "Tenant",
  project: "Project",
  user: "Person",
};

export function labelOf({ dimension }: Pick<QuotaLine, "dimension">): string {
  return WORDS[dimension].label;
}

export function limitedBy({ limited_by }: Pick<QuotaLine, "limited_by">): string {
  return limited_by ? LIMITED_BY[limited_by] : "–";
}

/** A number of a quota with its unit; `none` where there is no number. */
export function amount(dimension: QuotaLine["dimension"], value: number | null, none = "No limit"): string {
  if (value === null) return none;
  const { unit } = WORDS[dimension];
  const shown = dimension === "memory_mib" ? Math.round((10 * value) / MIB_PER_GIB) / 10 : value;
  return unit ? `${shown} ${unit}` : String(shown);
}

/** What a launch would add. */
export interface Addition {
  machines: number;
  gpus: number;
  vcpus: number;
  memoryMib: number;
  newVolumes: number;
  newGib: number;
}

/** The lines that the launch would exceed, each as a sentence. */
export function exceeded(lines: readonly QuotaLine[], add: Addition): string[] {
  const wanted: Partial<Record<QuotaLine["dimension"], number>> = {
    allocations: add.machines,
    gpus: add.gpus,
    vcpus: add.vcpus,
    memory_mib: add.memoryMib,
    volumes: add.newVolumes,
    storage_gib: add.newGib,
  };
  return lines.flatMap((line) => {
    const needed = wanted[line.dimension] ?? 0;
    if (line.remaining === null || needed <= line.remaining) return [];
    const left = amount(line.dimension, line.remaining);
    return [
      `${labelOf(line)}: this needs ${amount(line.dimension, needed)}, and ${left} of ${amount(line.dimension, line.limit)} remain.`,
    ];
  });
}

/** What remains of some limits, as in "GPUs 3 of 8, Memory 4 GiB of 16 GiB"; limits that do not exist are left out. */
export function remainingWords(lines: readonly QuotaLine[], of: readonly QuotaLine["dimension"][]): string {
  return of
    .flatMap((dimension) => {
      const line = lines.find((each) => each.dimension === dimension);
      if (line === undefined || line.limit === null || line.remaining === null) return [];
      return [`${labelOf(line)} ${amount(dimension, Math.max(0, line.remaining))} of ${amount(dimension, line.limit)}`];
    })
    .join(", ");
}

/** A limit as it is typed: memory in GiB, nothing for no limit. */
export function typedLimit({ dimension, limit }: Pick<QuotaLine, "dimension" | "limit">): string {
  if (limit === null) return "";
  return String(dimension === "memory_mib" ? Math.round((100 * limit) / MIB_PER_GIB) / 100 : limit);
}

/** What was typed as a limit; undefined when it is none. */
export function readLimit(dimension: QuotaLine["dimension"], text: string): number | null | undefined {
  const trimmed = text.trim();
  if (trimmed === "") return null;
  if (!/^\d+(\.\d+)?$/.test(trimmed)) return undefined;
  const value = Number(trimmed) * (dimension === "memory_mib" ? MIB_PER_GIB : 1);
  return Number.isInteger(value) ? value : undefined;
}

export function unitOf(dimension: QuotaLine["dimension"]): string {
  return WORDS[dimension].unit;
}
