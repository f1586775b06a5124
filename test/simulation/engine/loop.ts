// Virtual time, and the one queue of everything that is pending: answers of the database, chunks of providers, writes to
// disk, timers. One event runs at a time, and the next one only when nothing that it set off can go on by itself: so what
// happens between two events is always the same, and which event is next is a matter of the seed alone.
import { AsyncLocalStorage } from 'node:async_hooks';
import { createHash } from 'node:crypto';
import { type Draw, drawFrom } from '../../crash/draw.ts';

/** A process, or a part of the world: what it does ends when it dies. */
export class Actor {
  readonly name: string;
  alive = true;
  /** How far its clock is ahead of the world's. */
  skew_ms = 0;
  /** Until then it does nothing, and what comes for it waits. */
  frozen_until_ms = 0;

  readonly #atDeath: (() => void)[] = [];

  constructor(name: string) {
    this.name = name;
  }

  onDeath(work: () => void): void {
    this.#atDeath.push(work);
  }

  /** Nothing that it has begun goes on. */
  die(): void {
    this.alive = false;
    for (const work of this.#atDeath) work();
  }
}

interface Event {
  at_ms: number;
  /** Decides between events of the same moment: drawn for what comes from outside, in order for a process's own. */
  readonly tie: number;
  readonly actor: Actor;
  readonly what: string;
  readonly run: () => void;
  /** A process that has stood still runs its timers that are due before it reads what has come. */
  readonly is_timer: boolean;
  dropped: boolean;
}

/** Between two things that waited for a frozen actor, and between its timers and the rest. */
const THAW_MS = 0.001;
const THAW_TIMERS_MS = 5;
/** A run that takes more is one that never ends. */
const EVENTS_MAX = 400_000;
const acting = new AsyncLocalStorage<Actor>();
/** Taken before the timers are replaced. */
const { setImmediate: realImmediate } = globalThis;
let running: Loop | null = null;

/** The loop whose time counts now; null outside of a run. */
export function currentLoop(): Loop | null {
  return running;
}

function isBefore(a: Event, b: Event): boolean {
  return a.at_ms === b.at_ms ? a.tie < b.tie : a.at_ms < b.at_ms;
}

interface LoopOptions {
  readonly seed: number;
  readonly start_ms: number;
  /** Lines of the trace that are kept. */
  readonly lines_max?: number;
  /** Before the first run files are read, which takes real time: the loop waits for them. */
  readonly reads_files?: boolean;
}

export class Loop {
  readonly seed: number;
  readonly draw: Draw;
  readonly world = new Actor('world');
  readonly start_ms: number;
  now_ms: number;
  events = 0;
  /** The last lines of the trace, or all of them. */
  readonly lines: string[] = [];
  /** Rejections that nobody handled, and what events threw. */
  readonly defects: string[] = [];
  readonly #hash = createHash('sha256');
  readonly #lines_max: number;
  readonly #reads_files: boolean;
  readonly #heap: Event[] = [];
  #serial = 0;
  /** Events that have waited for a frozen actor. */
  #waiting = 0;

  constructor(options: LoopOptions) {
    this.seed = options.seed;
    this.draw = drawFrom(options.seed);
    this.start_ms = options.start_ms;
    this.now_ms = options.start_ms;
    this.#lines_max = options.lines_max ?? 400;
    this.#reads_files = options.reads_files ?? false;
  }

  /** Who acts now. */
  get actor(): Actor {
    return acting.getStore() ?? this.world;
  }

  /** Has `work` done as `actor`: what it schedules and awaits is the actor's. */
  as<T>(actor: Actor, work: () => T): T {
    return acting.run(actor, work);
  }

  /** Adds a line to the trace. */
  note(line: string): void {
    const text = `${(this.now_ms - this.start_ms).toFixed(3)} ${line}`;
    this.#hash.update(text);
    this.#hash.update('\n');
    this.lines.push(text);
    if (this.lines.length > this.#lines_max * 2) this.lines.splice(0, this.#lines_max);
  }

  /** The hash of the trace so far. */
  get trace_hash(): string {
    return this.#hash.copy().digest('hex');
  }

  /** Has `run` called in `delay_ms`, unless `actor` is dead by then. Among events of one moment a die decides. */
  later(what: string, delay_ms: number, run: () => void, actor: Actor = this.actor): Event {
    return this.#push({ delay_ms, tie: 1 + this.draw.unit(), actor, what, run, is_timer: false });
  }

  /** As `later`, for a timer of the actor. */
  timer(what: string, delay_ms: number, run: () => void, actor: Actor): Event {
    return this.#push({ delay_ms, tie: 1 + this.draw.unit(), actor, what, run, is_timer: true });
  }

  /** As `later`, at this moment: after what was asked for before, and before all else, as a process's own turns are. */
  next(what: string, run: () => void, actor: Actor = this.actor): Event {
    return this.#push({ delay_ms: 0, tie: this.#serial / 2 ** 40, actor, what, run, is_timer: false });
  }

  /** `actor` does nothing for a while; then it goes on, as Node does: with its timers, and then in the order in which all came. */
  freeze(actor: Actor, lasts_ms: number): void {
    actor.frozen_until_ms = Math.max(actor.frozen_until_ms, this.now_ms + lasts_ms);
  }

  drop(event: Event): void {
    event.dropped = true;
  }

  #push(wanted: Omit<Event, 'at_ms' | 'dropped'> & { readonly delay_ms: number }): Event {
    const { delay_ms, ...rest } = wanted;
    this.#serial++;
    const event = { ...rest, at_ms: this.now_ms + Math.max(0, delay_ms), dropped: false };
    this.#insert(event);
    return event;
  }

  #insert(event: Event): void {
    const heap = this.#heap;
    let at = heap.push(event) - 1;
    while (at > 0) {
      const up = (at - 1) >> 1;
      if (!isBefore(event, heap[up] as Event)) break;
      heap[at] = heap[up] as Event;
      at = up;
    }
    heap[at] = event;
  }

  #pop(): Event | undefined {
    const heap = this.#heap;
    const [first] = heap;
    const last = heap.pop();
    if (first === undefined || last === undefined || heap.length === 0) return first;
    let at = 0;
    for (;;) {
      let down = 2 * at + 1;
      if (down >= heap.length) break;
      if (down + 1 < heap.length && isBefore(heap[down + 1] as Event, heap[down] as Event)) down++;
      if (!isBefore(heap[down] as Event, last)) break;
      heap[at] = heap[down] as Event;
      at = down;
    }
    heap[at] = last;
    return first;
  }

  /** Runs events until `work`, which is the world's, has ended. @throws what it rejects with, or that it never ends. */
  async until<T>(work: () => Promise<T>): Promise<T> {
    if (running !== null) throw new Error('two loops cannot run at once');
    running = this;
    const unhandled = (error: unknown) =>
      this.defects.push(`unhandled: ${String((error as Error)?.stack ?? error)}`);
    process.on('unhandledRejection', unhandled);
    try {
      let ended = false;
      const result = this.as(this.world, work).finally(() => {
        ended = true;
      });
      result.catch(() => {});
      await settled();
      while (!ended) await this.#step();
      return await result;
    } finally {
      process.off('unhandledRejection', unhandled);
      running = null;
    }
  }

  async #step(): Promise<void> {
    const event = this.#pop();
    if (event === undefined) {
      if (this.#reads_files) return settled();
      throw new Error('nothing is pending, and the run has not ended');
    }
    if (event.dropped || !event.actor.alive) return;
    const { frozen_until_ms } = event.actor;
    if (frozen_until_ms > event.at_ms) {
      // What came later stays later, however little.
      const after_ms = event.is_timer ? 0 : THAW_TIMERS_MS;
      event.at_ms = frozen_until_ms + after_ms + this.#waiting++ * THAW_MS;
      return this.#insert(event);
    }
    if (++this.events > EVENTS_MAX) throw new Error(`the run has not ended after ${EVENTS_MAX} events`);
    this.now_ms = Math.max(this.now_ms, event.at_ms);
    if (event.what !== '') this.note(`${event.actor.name} ${event.what}`);
    try {
      this.as(event.actor, event.run);
    } catch (error) {
      this.defects.push(`thrown: ${String((error as Error)?.stack ?? error)}`);
    }
    await settled();
  }
}

/** All promises and ticks that can go on by themselves have done so by the next turn of the real event loop. */
function settled(): Promise<void> {
  return new Promise((done) => realImmediate(done));
}
