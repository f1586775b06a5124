// How many calls of a run this process has under way, and who waits for the end of one: its sum comes back to the budget.

/** Another worker, thought dead, may still have calls under way; the budget is looked at again after so long. */
const LOOK_MS = 250;

export class Reserves {
  private waiting: (() => void)[] = [];
  private last: Promise<unknown> = Promise.resolve();

  /** Runs `work` after that of all earlier callers. */
  inOrder<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.last.then(work, work);
    this.last = mine.catch(() => {});
    return mine;
  }

  /** Runs `call` and tells whoever waits when it has ended. */
  async during<T>(call: () => Promise<T>): Promise<T> {
    try {
      return await call();
    } finally {
      const { waiting } = this;
      this.waiting = [];
      for (const tell of waiting) tell();
    }
  }

  /** Resolves when a call of this process ends, and after a moment in any case. */
  untilOneEnds(): Promise<void> {
    return new Promise((done) => {
      const timer = setTimeout(done, LOOK_MS);
      this.waiting.push(() => {
        clearTimeout(timer);
        done();
      });
    });
  }
}
