/** What one tab does to the session is told to the others: signed out here is signed out everywhere. */

export type Word = { said: "signed-out" } | { said: "signed-in"; userId: string };

const channel = new BroadcastChannel("gpuaas-session");

export function tellTabs(word: Word): void {
  channel.postMessage(word);
}

export function onTold(listener: (word: Word) => void): void {
  channel.onmessage = ({ data }: MessageEvent<Word>) => listener(data);
}
