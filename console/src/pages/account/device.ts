const BROWSERS: readonly [RegExp, string][] = [
  [/\bEdgA?\/[\d.]+/, "Edge"],
  [/\bOPR\/[\d.]+/, "Opera"],
  [/\bFirefox\/[\d.]+/, "Firefox"],
  [/\b(HeadlessChrome|Chrome|Chromium|CriOS)\/[\d.]+/, "Chrome"],
  [/\bVersion\/[\d.]+ .*Safari\//, "Safari"],
];

const SYSTEMS: readonly [RegExp, string][] = [
  [/Android/, "Android"],
  [/iPhone|iPad/, "iOS"],
  [/Windows/, "Windows"],
  [/Mac OS X|Macintosh/, "macOS"],
  [/CrOS/, "ChromeOS"],
  [/Linux/, "Linux"],
];

/** A user agent as a person would say it; what is not a browser's stays as it is. */
export function describeDevice(agent: string): string {
  const host = /^gpuaas-cli \((.*)\)$/.exec(agent)?.[1];
  if (host !== undefined) return `gpuaas command on ${host}`;
  if (agent.startsWith("gpuaas-python")) return "Python library";
  const browser = BROWSERS.find(([pattern]) => pattern.test(agent))?.[1];
  const system = SYSTEMS.find(([pattern]) => pattern.test(agent))?.[1];
  if (browser && system) return `${browser} on ${system}`;
  return browser ?? (agent || "Not told");
}
