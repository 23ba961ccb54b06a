/** A reason as the machine gave it, as a sentence among others. */
export function sentence(reason: string): string {
  const text = reason.trim();
  if (text === "") return "";
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? "" : "."}`;
}
