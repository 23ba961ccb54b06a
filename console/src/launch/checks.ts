/** What the server would refuse, said while it is typed. The server has the last word. */

const NAME = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/;
const NAME_LENGTH = 63;

/** Why this cannot be a name; null when it can. */
export function nameMistake(name: string, longest = NAME_LENGTH): string | null {
  if (name === "") return "Give it a name.";
  if (name.length > longest) return `A name has at most ${longest} characters.`;
  return NAME.test(name) ? null : "Lower-case letters, digits and - only, with a letter or digit at both ends.";
}

/** Machines of a group get a number behind their name. */
export function machineNameMistake(name: string, count: number): string | null {
  return name === "" ? null : nameMistake(name, count > 1 ? NAME_LENGTH - `-${count}`.length : NAME_LENGTH);
}

const USERNAME = "gpu";
const ROOTS = ["/data", "/datasets", "/models", "/scratch", "/volumes", "/workspace"]; // themselves and below
const PARENTS = ["/mnt", "/srv", `/home/${USERNAME}`]; // below them only
const DEEPEST = 8;
const PART = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,62}$/;
const LONGEST = 255;

export const MOUNT_PATH_HINT = `In ${ROOTS.join(", ")}, /mnt/…, /srv/… or /home/${USERNAME}/…`;

/** Why a volume cannot be mounted there beside the `others` of the machine; null when it can. */
export function mountPathMistake(path: string, others: readonly string[] = []): string | null {
  if (!path.startsWith("/")) return "A mount path begins with /.";
  const parts = path.slice(1).split("/");
  if (parts.includes("") || parts.includes(".") || parts.includes(".."))
    return "Write it in its shortest form, such as /data/sets.";
  if (!parts.every((part) => PART.test(part)))
    return "Letters, digits, - _ and . only, each part beginning with a letter or digit.";
  if (parts.length > DEEPEST || path.length > LONGEST)
    return `At most ${DEEPEST} folders deep and ${LONGEST} characters long.`;
  const isBelow = [...ROOTS, ...PARENTS].some((root) => path.startsWith(`${root}/`));
  if (!isBelow && !ROOTS.includes(path)) return "It would hide a folder of the system.";
  for (const other of others) {
    if (path === other) return "Another volume is mounted there.";
    if (path.startsWith(`${other}/`) || other.startsWith(`${path}/`))
      return `It and the mount path ${other} would be nested.`;
  }
  return null;
}

/** The first of /data, /data-2, … that is free. */
export function freeMountPath(others: readonly string[]): string {
  for (let number = 1; ; number += 1) {
    const path = number === 1 ? "/data" : `/data-${number}`;
    const inMnt = number === 1 ? path : `/mnt${path}`;
    if (mountPathMistake(inMnt, others) === null) return inMnt;
  }
}

/** A whole number within bounds, or null. */
export function wholeNumber(text: string, least: number, most: number): number | null {
  const number = /^\d{1,9}$/.test(text.trim()) ? Number(text) : Number.NaN;
  return number >= least && number <= most ? number : null;
}

const SIZE_GIB = { least: 1, most: 1 << 20 };

export function sizeMistake(text: string): string | null {
  const { least, most } = SIZE_GIB;
  return wholeNumber(text, least, most) === null ? `A whole number of GiB from ${least} to ${most}.` : null;
}
