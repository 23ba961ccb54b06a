import { memo, type ReactNode, useCallback, useState } from "react";

interface Props<T> {
  items: readonly T[];
  /** Rows of some items; must not depend on anything else. */
  render: (items: readonly T[]) => ReactNode;
}

const CHUNK = 50;
const NEAR = "900px 0px";

/** A long list on a page that scrolls: far from what is seen, a stretch of it is only as high as it was. */
export function Windowed<T>({ items, render }: Props<T>) {
  const chunks: (readonly T[])[] = [];
  for (let from = 0; from < items.length; from += CHUNK) chunks.push(items.slice(from, from + CHUNK));
  // biome-ignore lint/suspicious/noArrayIndexKey: a stretch is its place in the list
  return chunks.map((chunk, place) => <Chunk key={place} items={chunk} render={render as Render} />);
}

type Render = (items: readonly unknown[]) => ReactNode;

const Chunk = memo(
  function Chunk({ items, render }: { items: readonly unknown[]; render: Render }) {
    const [height, setHeight] = useState<number | null>(null);
    const watch = useCallback((node: HTMLDivElement) => {
      const observer = new IntersectionObserver(
        ([seen]) => seen && setHeight(seen.isIntersecting ? null : seen.boundingClientRect.height),
        { rootMargin: NEAR },
      );
      observer.observe(node);
      return () => observer.disconnect();
    }, []);
    return (
      <div ref={watch} style={height === null ? undefined : { blockSize: height }}>
        {height === null && render(items)}
      </div>
    );
  },
  (before, after) =>
    before.render === after.render &&
    before.items.length === after.items.length &&
    before.items.every((item, place) => item === after.items[place]),
);
