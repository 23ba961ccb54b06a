// @vitest-environment happy-dom
import { describe, expect, it } from "vitest";
import { type Host, load } from "./chunks";

const GONE = new TypeError("Failed to fetch dynamically imported module: /assets/ListPage-1.js");

/** A server whose builds and a chunk whose answers are given one after the other; null is "no answer". */
function scene(builds: (string | null)[], chunks: (Error | string)[]) {
  const seen = { pauses: [] as number[], reloads: 0 };
  const host: Host = {
    ownBuild: "one",
    servedBuild: () => Promise.resolve(builds.shift() ?? null),
    pause: (ms) => Promise.resolve(void seen.pauses.push(ms)),
    mayReload: () => seen.reloads === 0,
    reload: () => {
      seen.reloads += 1;
    },
  };
  const chunk = () => {
    const next = chunks.length > 1 ? chunks.shift() : chunks[0];
    return next instanceof Error ? Promise.reject(next) : Promise.resolve(next);
  };
  return { seen, host, chunk };
}

const settled = (promise: Promise<unknown>) =>
  Promise.race([promise.then(() => "loaded"), new Promise((resolve) => setTimeout(() => resolve("waits"), 20))]);

describe("a chunk that does not load", () => {
  it("is asked for again, less and less often, until the server is back", async () => {
    const { seen, host, chunk } = scene([null, null, null, "one"], [GONE, GONE, GONE, GONE, "page"]);
    expect(await load(chunk, host)).toBe("page");
    expect(seen).toEqual({ pauses: [250, 500, 1_000, 2_000], reloads: 0 });
  });

  it("of a build that was replaced loads the page again, once, and shows nothing meanwhile", async () => {
    const { seen, host, chunk } = scene(["two"], [GONE]);
    expect(await settled(load(chunk, host))).toBe("waits");
    expect(seen.reloads).toBe(1);
    await expect(load(chunk, { ...host, servedBuild: () => Promise.resolve("two") })).rejects.toBe(GONE);
    expect(seen.reloads).toBe(1);
  });

  it("of the build that is served reloads the page after a few tries: a browser may remember the failure", async () => {
    const { seen, host, chunk } = scene(["one", "one", "one"], [GONE]);
    expect(await settled(load(chunk, host))).toBe("waits");
    expect(seen).toMatchObject({ pauses: [250, 500, 1_000], reloads: 1 });
  });

  it("because it throws is a bug and shown as one", async () => {
    const bug = new TypeError("undefined is not a function");
    const { seen, host, chunk } = scene([], [bug]);
    await expect(load(chunk, host)).rejects.toBe(bug);
    expect(seen).toEqual({ pauses: [], reloads: 0 });
  });
});
