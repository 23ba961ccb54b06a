import type { RuntimeBundle } from "../api/queries/runtimes";

/** One of each name: the version that its slug leads to, or else the newest, which says why it does not fit. */
export function offers(bundles: readonly RuntimeBundle[]): RuntimeBundle[] {
  const bySlug = new Map<string, RuntimeBundle[]>();
  for (const bundle of bundles) {
    if (bundle.state === "published") bySlug.set(bundle.slug, [...(bySlug.get(bundle.slug) ?? []), bundle]);
  }
  return [...bySlug.values()].flatMap((versions) => {
    const supported = versions.filter(({ support_level }) => support_level === "supported");
    const offered = supported.length > 0 ? supported : versions;
    const [first] = offered;
    const shown = offered.find(fits) ?? first;
    return shown ? [shown] : [];
  });
}

export function fits(bundle: RuntimeBundle): boolean {
  return bundle.compatibility?.compatible ?? true;
}

/** Where it runs and who makes it, in a few words. */
export function about({ version, vendor, runtime_family, support_level }: RuntimeBundle): string {
  const runs = { cuda: "for NVIDIA GPUs", rocm: "for AMD GPUs", cpu: "runs on the processor" }[runtime_family];
  return [version, vendor, runs, ...(support_level === "preview" ? ["preview"] : [])].join(" · ");
}
