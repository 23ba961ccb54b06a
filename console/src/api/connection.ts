/** Whether the server answers: told by every request, asked for while it does not. */

const ASK_AGAIN_MS = 1_500;

export interface ConnectionState {
  lostSince: Date | null;
}

type Listener = () => void;

class Connection {
  private state: ConnectionState = { lostSince: null };
  private readonly listeners = new Set<Listener>();
  private readonly comebacks = new Set<Listener>();
  private asking = false;

  readonly subscribe = (listener: Listener): Listener => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  readonly snapshot = (): ConnectionState => this.state;

  /** Called each time the server is back. */
  onComeback(listener: Listener): void {
    this.comebacks.add(listener);
  }

  answered(): void {
    if (this.state.lostSince === null) return;
    this.change({ lostSince: null });
    for (const listener of this.comebacks) listener();
  }

  lost(): void {
    if (this.state.lostSince === null) this.change({ lostSince: new Date() });
    void this.ask();
  }

  /** Something that listens stopped hearing: find out at once instead of with the next request. */
  async doubt(): Promise<void> {
    if (this.state.lostSince !== null || (await isReady())) return;
    this.lost();
  }

  private change(state: ConnectionState): void {
    this.state = state;
    for (const listener of this.listeners) listener();
  }

  private async ask(): Promise<void> {
    if (this.asking) return;
    this.asking = true;
    while (this.state.lostSince !== null) {
      await new Promise((resolve) => setTimeout(resolve, ASK_AGAIN_MS));
      if (await isReady()) this.answered();
    }
    this.asking = false;
  }
}

async function isReady(): Promise<boolean> {
  const answer = await fetch("/readyz").catch(() => null);
  return answer?.ok ?? false;
}

export const connection = new Connection();
