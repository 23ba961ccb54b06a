import { Store } from "./store";

export interface Help {
  title: string;
  text: string;
}

/** What the help panel shows; null when it is closed. */
export const help = new Store<Help | null>(null);
