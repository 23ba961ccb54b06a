import type { Volume } from "../api/queries/volumes";
import { machineNameMistake, mountPathMistake, nameMistake, sizeMistake, wholeNumber } from "./checks";
import { type Choice, COUNT, type Draft, type DraftVolume, HOURS, IDLE, isRepriced } from "./draft";

export const STEPS = ["compute", "access", "storage", "runtime", "review"] as const;
export type StepId = (typeof STEPS)[number];

/** Field → what is wrong with it. */
export type Mistakes = Record<string, string>;

export function mistakesOf(step: StepId, draft: Draft, choice: Choice, volumes: readonly Volume[]): Mistakes {
  switch (step) {
    case "compute":
      return only({
        sku: choice.live === null ? `${draft.sku} is no longer offered. Choose another GPU type.` : null,
        count: numberMistake(draft.count, COUNT, "machines"),
      });
    case "access":
      return only({ keys: choice.keys.length === 0 ? "Choose at least one key, or add one: it is the way in." : null });
    case "storage":
      return Object.assign({}, ...draft.volumes.map((volume) => volumeMistakes(volume, draft, choice, volumes)));
    case "runtime":
      return {};
    case "review":
      return only({
        price: isRepriced(choice) ? "The price changed. Accept the new price, or choose another GPU type." : null,
        name: machineNameMistake(draft.name, choice.count),
        expiresInHours: draft.expiresInHours === "" ? null : numberMistake(draft.expiresInHours, HOURS, "hours"),
        idleMinutes: draft.idleMinutes === "" ? null : numberMistake(draft.idleMinutes, IDLE, "minutes"),
      });
  }
}

/** The first step that is not right, if any. */
export function firstWrong(draft: Draft, choice: Choice, volumes: readonly Volume[]): StepId | null {
  return STEPS.find((step) => Object.keys(mistakesOf(step, draft, choice, volumes)).length > 0) ?? null;
}

function volumeMistakes(volume: DraftVolume, draft: Draft, choice: Choice, volumes: readonly Volume[]): Mistakes {
  const others = draft.volumes.filter(({ row }) => row !== volume.row).map(({ mountPath }) => mountPath);
  const at = (field: string) => `${volume.row}.${field}`;
  const path = { [at("mountPath")]: mountPathMistake(volume.mountPath, others) };
  if (!volume.isNew) {
    const found = volumes.find(({ id }) => id === volume.volumeId);
    const isTwice = draft.volumes.some(
      (other) => other.row < volume.row && other.volumeId === volume.volumeId && !other.isNew,
    );
    const wrong = isTwice
      ? "This volume is in the list already."
      : found
        ? volumeObjection(found, volume, choice.count)
        : "Choose a volume.";
    return only({ ...path, [at("volumeId")]: wrong });
  }
  return only({
    ...path,
    [at("name")]: newNameMistake(volume, draft, choice, volumes),
    [at("sizeGib")]: sizeMistake(volume.sizeGib),
  });
}

function newNameMistake(volume: DraftVolume, draft: Draft, choice: Choice, volumes: readonly Volume[]): string | null {
  if (choice.count > 1)
    return "A new volume is made with one machine. Make it on the Volumes page, then choose it here.";
  const isTaken =
    volumes.some(({ name }) => name === volume.name) ||
    draft.volumes.some((other) => other.row < volume.row && other.isNew && other.name === volume.name);
  return nameMistake(volume.name) ?? (isTaken ? "A volume of this name is there already." : null);
}

/** Why a volume cannot be mounted so, and what would go; null when it can. */
export function volumeObjection(volume: Volume, wish: Pick<DraftVolume, "accessMode">, count = 1): string | null {
  if (volume.status !== "available" && volume.status !== "creating")
    return `It is ${volume.status.replace("_", " ")} and cannot be attached.`;
  if (wish.accessMode === "read_only") return null;
  if (volume.is_over_quota) return "It holds more than its size. Mount it read-only, or delete from it first.";
  if (volume.write_policy === "multi_writer") return null;
  const writer = volume.attachments.find(({ access_mode }) => access_mode === "read_write");
  if (writer)
    return `It has one writer, and that is ${writer.allocation_name}. Mount it read-only, or detach it there first.`;
  return count > 1 ? "It takes one writer, and these are several machines. Mount it read-only." : null;
}

function numberMistake(text: string, { least, most }: { least: number; most: number }, what: string): string | null {
  return wholeNumber(text, least, most) === null ? `A whole number of ${what} from ${least} to ${most}.` : null;
}

function only(found: Record<string, string | null>): Mistakes {
  return Object.fromEntries(Object.entries(found).filter((entry): entry is [string, string] => entry[1] !== null));
}
