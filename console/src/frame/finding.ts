/** Anything that search can find. */
export interface Findable {
  name: string;
  /** An id, or what else it may be looked for by. */
  id: string;
  href: string;
  /** Shown beside the name. */
  tag?: string;
}

const MOST = 6;

/** Those whose name or id holds the text: names that begin so first, then names, then ids. */
export function find<T extends Findable>(things: readonly T[], text: string): T[] {
  const wanted = text.trim().toLowerCase();
  if (wanted === "") return things.slice(0, MOST);
  const ranked = things.flatMap((thing) => {
    const rank = rankOf(thing, wanted);
    return rank === null ? [] : [{ thing, rank }];
  });
  return ranked
    .sort((a, b) => a.rank - b.rank)
    .slice(0, MOST)
    .map(({ thing }) => thing);
}

function rankOf({ name, id }: Findable, wanted: string): number | null {
  const at = name.toLowerCase().indexOf(wanted);
  if (at === 0) return 0;
  if (at > 0) return 1;
  return id.toLowerCase().includes(wanted) ? 2 : null;
}
