// Whose large body is read now. One at a time, organizations taking turns, and between its slices the process belongs to
// everybody else: a caller of large bodies delays its own organization.
import type { Steps } from '../../kernel/index.ts';
import type { Incoming } from './types.ts';

/** A slice may run so long; what cannot be divided may take longer. */
const SLICE_MS = 2;
/** Rest after a slice, in times its length: at most a fifth of the process goes to large bodies. */
const REST = 4;

/** The time of one body's reading. */
export interface Turn {
  /** Waits if the slice has had its time. */
  rest(): Promise<void> | undefined;
  /** Lets the next body in. */
  end(): void;
}

/** The result of `steps`, with a rest wherever the turn's slice is over. */
async function inSlices<T>(steps: Steps<T>, turn: Turn): Promise<T> {
  let next = steps.next();
  while (next.done !== true) {
    await turn.rest();
    next = steps.next();
  }
  return next.value;
}

class Reading implements Turn {
  readonly #end: () => void;
  #since = performance.now();
  #ended = false;

  constructor(end: () => void) {
    this.#end = end;
  }

  rest(): Promise<void> | undefined {
    const took = performance.now() - this.#since;
    return took < SLICE_MS ? undefined : this.#pause(took);
  }

  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    // The last slice rests like the others: the next body waits for it.
    void this.#pause(performance.now() - this.#since).then(this.#end);
  }

  async #pause(took: number): Promise<void> {
    await new Promise<void>((done) => void setTimeout(done, took * REST));
    this.#since = performance.now();
  }
}

type Waiting = (turn: Turn) => void;

/** The bodies of a process that wait to be read in slices. */
class Turns {
  /** By organization, the next in turn first. */
  readonly #lines = new Map<string, Waiting[]>();
  #busy = false;

  /** Resolves when a body of `org_id` may be read. */
  take(org_id: string): Promise<Turn> {
    return new Promise((start) => {
      const line = this.#lines.get(org_id);
      if (line === undefined) this.#lines.set(org_id, [start]);
      else line.push(start);
      this.#next();
    });
  }

  #next(): void {
    if (this.#busy) return;
    for (const [org_id, line] of this.#lines) {
      const start = line.shift();
      // Behind all others, or away.
      this.#lines.delete(org_id);
      if (line.length > 0) this.#lines.set(org_id, line);
      if (start === undefined) continue;
      this.#busy = true;
      return start(new Reading(() => this.#ended()));
    }
  }

  #ended(): void {
    this.#busy = false;
    this.#next();
  }
}

/** The large bodies of this process. */
const turns = new Turns();

/** Resolves when a large body of `org_id` may be decoded or read; to be ended. */
export function largeBodyTurn(org_id: string): Promise<Turn> {
  return turns.take(org_id);
}

/** The result of `steps`, which are done when it is the caller's turn. */
export async function inTurn<T>({ grant }: Pick<Incoming, 'grant'>, steps: Steps<T>): Promise<T> {
  const turn = await largeBodyTurn(grant.org_id);
  try {
    return await inSlices(steps, turn);
  } finally {
    turn.end();
  }
}
