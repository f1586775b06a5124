// Ctrl-C and SIGTERM as promises: the first asks for an orderly stop, the second for an immediate one.

export interface Interruption {
  /** Resolves at the first request to stop, with its source. */
  readonly first: Promise<string>;
  /** Resolves at the second one. */
  readonly second: Promise<string>;
  /** Called between the steps of the start. @throws Interrupted when a stop was requested. */
  check(): void;
}

/** Thrown out of a start that was interrupted. */
export class Interrupted extends Error {}

/** Watches the signals, and the `make` that started this process: when `make` is killed, no signal arrives here. */
export function watchInterruption(): Interruption {
  const first = Promise.withResolvers<string>();
  const second = Promise.withResolvers<string>();
  let count = 0;
  const ask = (what: string) => {
    count++;
    (count === 1 ? first : second).resolve(what);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => ask(signal));
  const parent = process.ppid;
  if (process.env['MAKELEVEL'] !== undefined) {
    const watch = setInterval(() => {
      if (process.ppid === parent) return;
      clearInterval(watch);
      ask('the end of make');
    }, 500);
    watch.unref();
  }
  return {
    first: first.promise,
    second: second.promise,
    check() {
      if (count > 0) throw new Interrupted();
    },
  };
}
