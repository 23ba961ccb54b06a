import { expect, test } from "vitest";
import type { AccessGrant } from "../../../api/queries/access";
import { nextWords, verbsOf } from "./grants";
import { rowsOf } from "./keys";

const grant = (status: AccessGrant["status"], more: Partial<AccessGrant> = {}): AccessGrant => ({
  id: "grant_1",
  project_id: "proj_1",
  allocation_id: "alloc_1",
  allocation_name: "first",
  user_id: "user_bob",
  email: "bob@example.com",
  status,
  status_since: "2026-01-01T00:00:00Z",
  status_reason: "",
  ssh_key_id: null,
  key_fingerprint: null,
  created_by: "user_ada",
  created_at: "2026-01-01T00:00:00Z",
  expires_at: null,
  installed: true,
  applied: true,
  notice: "",
  ...more,
});
const holder = { isHolder: true, decides: true, works: true };
const member = { isHolder: false, decides: false, works: true };
const verbs = (...asked: Parameters<typeof verbsOf>) => verbsOf(...asked).map(([, words]) => words);

test("who decides answers what is asked for, and takes back what was given", () => {
  expect(verbs(grant("asked"), holder, "user_ada")).toEqual(["Approve", "Refuse"]);
  expect(verbs(grant("active"), holder, "user_ada")).toEqual(["Set an end", "Revoke"]);
  expect(verbs(grant("awaiting_key", { expires_at: "2026-01-02T00:00:00Z" }), holder, "user_ada")).toEqual([
    "Extend",
    "Revoke",
  ]);
});

test("a grantee chooses the key, and may give it up", () => {
  expect(verbs(grant("awaiting_key"), member, "user_bob")).toEqual(["Choose a key", "Give up"]);
  expect(verbs(grant("active", { key_fingerprint: "SHA256:x" }), member, "user_bob")).toEqual([
    "Change key",
    "Give up",
  ]);
  expect(verbs(grant("asked"), member, "user_bob")).toEqual(["Choose a key", "Withdraw"]);
});

test("others only look on, and what is over is over", () => {
  expect(verbs(grant("active"), member, "user_cleo")).toEqual([]);
  expect(verbs(grant("revoked"), holder, "user_ada")).toEqual([]);
});

test("a grant that waits says for whom", () => {
  expect(nextWords(grant("awaiting_key"), false)).toBe("bob@example.com has to choose a key of theirs.");
  expect(nextWords(grant("awaiting_key"), true)).toBe("Choose a key of yours to get in.");
  expect(nextWords(grant("active", { installed: false }), false)).toBe("On its way to the machine.");
  expect(nextWords(grant("active"), false)).toBe("");
});

test("every key that opens the machine says whose it is", () => {
  const mine = [{ id: "key_1", title: "laptop", type: "t", fingerprint: "SHA256:a", public_key: "", created_at: "" }];
  const grants = [grant("active", { key_fingerprint: "SHA256:b" }), grant("revoked", { key_fingerprint: "SHA256:a" })];
  const rows = rowsOf({ fingerprints: ["SHA256:a", "SHA256:b"] }, { holder: "You", mine, grants });
  expect(rows.map(({ title, owner, how }) => [title, owner, how])).toEqual([
    ["laptop", "You", "Holder"],
    ["", "bob@example.com", "Granted"],
  ]);
});
