const UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
const STEP = 1_024;
export const MIB = STEP * STEP;

/** "512 B", "1.4 MiB", "120 GiB": three digits say enough. */
export function bytes(count: number): string {
  let value = count;
  let unit = 0;
  while (Math.round(value) >= 1_000 && unit < UNITS.length - 1) {
    value /= STEP;
    unit += 1;
  }
  const digits = unit === 0 || value >= 100 ? 0 : value >= 10 ? 1 : 2;
  return `${Number(value.toFixed(digits))} ${UNITS[unit]}`;
}
