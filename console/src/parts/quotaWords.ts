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
