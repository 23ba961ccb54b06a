import { connection } from "./connection";

/** The build that this page is made of; the server names the build it serves in `/build.json`. */
const OWN_BUILD = document.querySelector<HTMLMetaElement>('meta[name="gpuaas-build"]')?.content ?? "";

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 5_000;
const MOST_TRIES = 3; // while the server answers with the same build
const RELOADED = "gpuaas-reloaded";
const RELOAD_AGAIN_MS = 30_000;
const NOT_LOADED = /dynamically imported module|module script failed|Unable to preload/i;

/** What a load needs of the browser. */
export interface Host {
  ownBuild: string;
  /** The build that the server serves now; null while it does not answer. */
  servedBuild: () => Promise<string | null>;
  pause: (ms: number) => Promise<void>;
  reload: () => void;
  /** Whether a reload may help: not twice in a row for the same build. */
  mayReload: (build: string) => boolean;
}

/**
 * Loads a chunk of the console, however long the server is away: until then the promise stays open, so the shell and its
 * terminals stay as they are. A chunk of a build that was replaced is found by loading the page again, once.
 */
export async function load<T>(chunk: () => Promise<T>, host: Host = browser): Promise<T> {
  let tries = 0;
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
    try {
      return await chunk();
    } catch (error) {
      if (!isNotLoaded(error)) throw error;
      await host.pause(pause);
      const served = await host.servedBuild();
      if (served === null) continue;
      tries += 1;
      if (served === host.ownBuild && tries < MOST_TRIES) continue;
      if (!host.mayReload(served)) throw error;
      host.reload();
      return await new Promise<never>(() => undefined); // the page leaves
    }
  }
}

function isNotLoaded(error: unknown): boolean {
  return error instanceof Error && NOT_LOADED.test(error.message);
}

async function servedBuild(): Promise<string | null> {
  const answer = await fetch("/build.json", { cache: "no-store" }).catch(() => null);
  if (!answer?.ok) {
    connection.lost();
    return null;
  }
  const { build } = (await answer.json()) as { build: string };
  return build;
}

function mayReload(build: string): boolean {
  const [before, at] = (sessionStorage.getItem(RELOADED) ?? "").split(" ");
  if (before === build && Date.now() - Number(at) < RELOAD_AGAIN_MS) return false;
  sessionStorage.setItem(RELOADED, `${build} ${Date.now()}`);
  return true;
}

let target: () => string | undefined = () => undefined;

/** Where a navigation that waits for a chunk leads: a reload goes there. */
export function reloadAt(address: () => string | undefined): void {
  target = address;
}

function reload(): void {
  const to = target();
  if (to === undefined) window.location.reload();
  else window.location.assign(to);
}

const browser: Host = {
  ownBuild: OWN_BUILD,
  servedBuild,
  pause: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  reload,
  mayReload,
};
