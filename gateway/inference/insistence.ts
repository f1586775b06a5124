// Callers that go on although the limits refuse them. A refusal costs little, and thousands in a second are still a good part
// of a process: who ignores `Retry-After` waits for his answers.
import { monotonicMs } from '@svc/core/kernel/index.ts';

/** Refusals of a plan within a second that are answered at once; many calls that start together are no attack. */
const AT_ONCE = 50;
const WINDOW_MS = 1_000;
/** How long the answer to each further one is held back. */
const HOLD_MS = 1_000;
/** Answers held back in a process at most; beyond it they are given at once, so that they cannot fill the memory. */
const HELD_MAX = 5_000;

/** The refusals of one process. */
export class Insistence {
  #since = Number.NEGATIVE_INFINITY;
  /** By plan, within the window. */
  readonly #refused = new Map<string, number>();
  #held = 0;

  /** Calls `answer` with a refusal of `plan`: now, or a second later where it had many. */
  refuse(plan: string, answer: () => void): void {
    const now = monotonicMs();
    if (now - this.#since >= WINDOW_MS) {
      this.#since = now;
      this.#refused.clear();
    }
    const refused = (this.#refused.get(plan) ?? 0) + 1;
    this.#refused.set(plan, refused);
    if (refused <= AT_ONCE || this.#held >= HELD_MAX) return answer();
    this.#held++;
    setTimeout(() => {
      this.#held--;
      answer();
    }, HOLD_MS);
  }
}
