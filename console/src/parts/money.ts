import type { components } from "../api/schema";

type Money = components["schemas"]["Money"];

const MINOR_DIGITS = 2;

/** Amounts come in hundredths and are never computed with as fractions before they are shown. */
export function money({ amount_minor, currency }: Money): string {
  return new Intl.NumberFormat(undefined, { style: "currency", currency }).format(amount_minor / 10 ** MINOR_DIGITS);
}

export function perHour(price: Money): string {
  return `${money(price)} / h`;
}
