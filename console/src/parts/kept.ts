import { useCallback, useState } from "react";

/** A setting of this browser: kept when the page is left, and read back only if it can be read. */
export function useKept<T>(name: string, initial: T, storage: Storage = localStorage): [T, (next: T) => void] {
  const key = `gpuaas-${name}`;
  const [value, setValue] = useState<T>(() => read(storage, key) ?? initial);
  const keep = useCallback(
    (next: T) => {
      setValue(next);
      storage.setItem(key, JSON.stringify(next));
    },
    [key, storage],
  );
  return [value, keep];
}

function read<T>(storage: Storage, key: string): T | undefined {
  try {
    const kept = storage.getItem(key);
    return kept === null ? undefined : (JSON.parse(kept) as T);
  } catch {
    return undefined;
  }
}
