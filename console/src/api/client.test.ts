// @vitest-environment happy-dom
import { afterEach, expect, test, vi } from "vitest";
import { twice } from "./client";

const URL = "http://127.0.0.1/api/v1/me";

function dropOnce() {
  const tried = vi
    .fn<typeof fetch>()
    .mockRejectedValueOnce(new TypeError("dropped"))
    .mockResolvedValue(new Response("{}"));
  vi.stubGlobal("fetch", tried);
  return tried;
}

afterEach(() => vi.unstubAllGlobals());

test("what was dropped is asked once more", async () => {
  const tried = dropOnce();
  expect((await twice(new Request(URL))).ok).toBe(true);
  expect(tried).toHaveBeenCalledTimes(2);
});

test("a change is sent again only if its key makes it one change", async () => {
  const tried = dropOnce();
  await expect(twice(new Request(URL, { method: "POST" }))).rejects.toThrow("dropped");
  expect(tried).toHaveBeenCalledTimes(1);
  dropOnce();
  const keyed = new Request(URL, { method: "POST", headers: { "X-Idempotency-Key": "1" } });
  expect((await twice(keyed)).ok).toBe(true);
});
