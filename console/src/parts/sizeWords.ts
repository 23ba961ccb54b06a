import type { components } from "../api/schema";

type Schemas = components["schemas"];
type Inside = Pick<Schemas["Size"], "vcpus" | "memory_mib"> &
  Partial<Pick<Schemas["Size"], "disk_gib" | "shares_cpus">>;

const MIB_PER_GIB = 1_024;

/** "2 vCPU (shared), 5 GiB memory, 4 GiB root disk"; shared: the node may sell more vCPUs than it has CPUs. */
export function inside({ vcpus, memory_mib, disk_gib, shares_cpus }: Inside): string {
  const disk = disk_gib ? `, ${disk_gib} GiB root disk` : "";
  return `${vcpus} vCPU${shares_cpus ? " (shared)" : ""}, ${Math.round(memory_mib / MIB_PER_GIB)} GiB memory${disk}`;
}
