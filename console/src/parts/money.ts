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

/** An estimate that grows while it is looked at: to the hundredth of a cent. */
export function growingMoney(amountMinor: number, currency: string): string {
  const digits = { minimumFractionDigits: 4, maximumFractionDigits: 4 };
  return new Intl.NumberFormat(undefined, { style: "currency", currency, ...digits }).format(
    amountMinor / 10 ** MINOR_DIGITS,
  );
}

export function times({ amount_minor, currency }: Money, count: number): Money {
  return { amount_minor: amount_minor * count, currency };
}
