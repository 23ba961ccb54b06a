import type { components } from "../api/schema";

type Confinement = components["schemas"]["Confinement"];

export function nestingWords({ nested_user_namespaces: nested }: Partial<Confinement>): string {
  if (nested === null || nested === undefined) return "user namespaces inside not tried";
  return nested ? "user namespaces inside allowed" : "user namespaces inside refused";
}

export function capabilityWords({ capabilities = [] }: Partial<Confinement>): string {
  return `${capabilities.length} capabilities for root inside${capabilities.includes("CAP_SYS_ADMIN") ? ", CAP_SYS_ADMIN among them" : ""}`;
}
