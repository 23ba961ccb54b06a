import type { components } from "../api/schema";

type Money = components["schemas"]["Money"];

const MINOR_DIGITS = 2;
const FORMATS = new Map<string, Intl.NumberFormat>(); // one costs more to make than a row to draw

/** Amounts come in hundredths and are never computed with as fractions before they are shown. */
export function money({ amount_minor, currency }: Money): string {
  return formatOf(currency, MINOR_DIGITS).format(amount_minor / 10 ** MINOR_DIGITS);
}

export function perHour(price: Money): string {
  return `${money(price)} / h`;
}

/** An estimate that grows while it is looked at: to the hundredth of a cent. */
export function growingMoney(amountMinor: number, currency: string): string {
  return formatOf(currency, 2 * MINOR_DIGITS).format(amountMinor / 10 ** MINOR_DIGITS);
}

function formatOf(currency: string, digits: number): Intl.NumberFormat {
  const key = `${currency} ${digits}`;
  let format = FORMATS.get(key);
  if (format === undefined) {
    const shown = { minimumFractionDigits: digits, maximumFractionDigits: digits };
    format = new Intl.NumberFormat(undefined, { style: "currency", currency, ...shown });
    FORMATS.set(key, format);
  }
  return format;
}

export function times({ amount_minor, currency }: Money, count: number): Money {
  return { amount_minor: amount_minor * count, currency };
}
