import { applyMode, Mode } from "@cloudscape-design/global-styles";

export type ColourMode = "light" | "dark";
const KEPT = "gpuaas-colours";

function wanted(): ColourMode {
  const kept = localStorage.getItem(KEPT);
  if (kept === "light" || kept === "dark") return kept;
  return window.matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

let mode: ColourMode = wanted();
const listeners = new Set<() => void>();

export function startColours(): void {
  show(mode);
}

export function setMode(next: ColourMode): void {
  mode = next;
  localStorage.setItem(KEPT, next);
  show(next);
  for (const listener of listeners) listener();
}

export const modeStore = {
  subscribe: (listener: () => void) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },
  snapshot: () => mode,
};

function show(next: ColourMode): void {
  applyMode(next === "dark" ? Mode.Dark : Mode.Light);
  document.documentElement.style.colorScheme = next;
}
