import type { PublishRuntimeBundle } from "../../../api/queries/adminRuntimes";

type Read = { bundle: PublishRuntimeBundle } | { wrong: string };

const WANTED = ["product_name", "slug", "version", "vendor", "runtime_family", "recipe"] as const;

/** What a recipe file says, or what keeps it from being one; the server judges the rest. */
export function readRecipe(text: string): Read {
  let found: unknown;
  try {
    found = JSON.parse(text);
  } catch (error) {
    return { wrong: `This is not JSON: ${error instanceof Error ? error.message : error}.` };
  }
  if (typeof found !== "object" || found === null || Array.isArray(found)) {
    return { wrong: "A recipe file holds one JSON object." };
  }
  const missing = WANTED.filter((name) => !(name in found));
  if (missing.length > 0) return { wrong: `It does not say ${missing.join(", ")}.` };
  return { bundle: found as PublishRuntimeBundle };
}

/** As people read it; what is no JSON is left as it is. */
export function laidOut(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
