// Replaces what reads or waits for time in this process by the time of the current loop: clocks, timers and their promises.
// Outside of a run the real ones answer.
import { syncBuiltinESMExports } from 'node:module';
import timersPromises from 'node:timers/promises';
import { currentLoop, type Loop } from './loop.ts';

type Work = (...args: unknown[]) => void;

/** What a timer of Node is to those who keep it. */
class VirtualTimer {
  readonly #loop: Loop;
  readonly #work: () => void;
  readonly #delay_ms: number;
  readonly #every: boolean;
  readonly #actor: Loop['world'];
  #event: ReturnType<Loop['later']>;

  constructor(loop: Loop, wanted: { work: () => void; delay_ms: number; every: boolean }) {
    this.#loop = loop;
    this.#work = wanted.work;
    // As Node has it: at least a millisecond.
    this.#delay_ms = Math.max(1, Number.isFinite(wanted.delay_ms) ? wanted.delay_ms : 1);
    this.#every = wanted.every;
    this.#actor = loop.actor;
    this.#event = this.#arm();
  }

  // Ticks that find nothing to do are no lines of the trace.
  #arm(): ReturnType<Loop['later']> {
    const what = this.#every ? '' : 'timer';
    return this.#loop.timer(what, this.#delay_ms, () => this.#fire(), this.#actor);
  }

  #fire(): void {
    if (this.#every) this.#event = this.#arm();
    this.#work();
  }

  close(): void {
    this.#loop.drop(this.#event);
  }
  refresh(): this {
    this.#loop.drop(this.#event);
    this.#event = this.#arm();
    return this;
  }
  ref(): this {
    return this;
  }
  unref(): this {
    return this;
  }
  hasRef(): boolean {
    return true;
  }
}

class VirtualImmediate {
  readonly #loop: Loop;
  readonly #event: ReturnType<Loop['next']>;

  constructor(loop: Loop, work: () => void) {
    this.#loop = loop;
    this.#event = loop.next('', work);
  }
  close(): void {
    this.#loop.drop(this.#event);
  }
  ref(): this {
    return this;
  }
  unref(): this {
    return this;
  }
}

const real = {
  setTimeout: globalThis.setTimeout,
  clearTimeout: globalThis.clearTimeout,
  setInterval: globalThis.setInterval,
  clearInterval: globalThis.clearInterval,
  setImmediate: globalThis.setImmediate,
  clearImmediate: globalThis.clearImmediate,
  now: Date.now.bind(Date),
  monotonic: performance.now.bind(performance),
  pause: timersPromises.setTimeout,
  turn: timersPromises.setImmediate,
};

let is_server = false;

/**
 * Does `work` of the database, which asks for timers of its own: PostgreSQL wakes itself for its statistics and for locks
 * that it waits for. In one thread it waits for none, and what it counts must not depend on the runs before; they never ring.
 */
export function asServer<T>(work: () => T): T {
  is_server = true;
  try {
    return work();
  } finally {
    is_server = false;
  }
}

/** A timer that never rings. */
const SILENT = { close() {}, ref: () => SILENT, unref: () => SILENT };

let pinned_ms: number | null = null;

/** Has the clock stand at `ms` outside of runs, for what remembers when it began; null: the machine's again. */
export function pinClock(ms: number | null): void {
  pinned_ms = ms;
}

/** Real seconds, for what measures the simulation itself. */
export const realMs = (): number => real.monotonic();

function timer(every: boolean, otherwise: Work) {
  return (work: Work, delay_ms = 0, ...args: unknown[]) => {
    if (is_server) return SILENT;
    const loop = currentLoop();
    if (loop === null) return otherwise(work, delay_ms, ...args);
    return new VirtualTimer(loop, { work: () => work(...args), delay_ms: Number(delay_ms), every });
  };
}

function clear(otherwise: Work) {
  return (timer: unknown) => {
    if (timer === SILENT) return;
    if (timer instanceof VirtualTimer || timer instanceof VirtualImmediate) timer.close();
    else otherwise(timer);
  };
}

/** Puts the clock and the timers of loops in place of Node's, once. */
export function installTime(): void {
  Object.assign(globalThis, {
    setTimeout: timer(false, real.setTimeout as unknown as Work),
    setInterval: timer(true, real.setInterval as unknown as Work),
    clearTimeout: clear(real.clearTimeout as unknown as Work),
    clearInterval: clear(real.clearInterval as unknown as Work),
    clearImmediate: clear(real.clearImmediate as unknown as Work),
    setImmediate: (work: Work, ...args: unknown[]) => {
      const loop = currentLoop();
      if (loop === null) return real.setImmediate(work, ...args);
      return new VirtualImmediate(loop, () => work(...args));
    },
  });
  Date.now = () => {
    const loop = currentLoop();
    return loop === null ? (pinned_ms ?? real.now()) : Math.floor(loop.now_ms + loop.actor.skew_ms);
  };
  performance.now = () => {
    const loop = currentLoop();
    return loop === null ? real.monotonic() : loop.now_ms - loop.start_ms;
  };
  Object.assign(timersPromises, {
    setTimeout: (delay_ms?: number, value?: unknown) =>
      currentLoop() === null
        ? real.pause(delay_ms, value)
        : new Promise((done) => globalThis.setTimeout(() => done(value), delay_ms)),
    setImmediate: (value?: unknown) =>
      currentLoop() === null
        ? real.turn(value)
        : new Promise((done) => globalThis.setImmediate(() => done(value))),
  });
  syncBuiltinESMExports();
}
