// What `make up` prints while it works: one line per step, and a progress line for each step that takes long.

const SIGN_OF_LIFE_MS = 2_000;
/** For steps after the start, when a person may already be typing in the terminal. */
const SIGN_OF_LIFE_LATER_MS = 10_000;

/** Prints one line: the name of the step, padded, and what happened. */
export function say(step: string, message: string): void {
  process.stdout.write(`${step.padEnd(10)} ${message}\n`);
}

/**
 * Runs `work` under the name `step`. Prints a progress line every two seconds while it runs, and at the end its
 * result (`done`) with the time it took.
 */
export async function step<T extends { done: string }>(
  name: string,
  doing: string,
  work: () => Promise<T>,
): Promise<T> {
  return timed({ name, doing, every_ms: SIGN_OF_LIFE_MS }, work);
}

/**
 * Like `step`, for work after the gateway already answers: the first progress line after two seconds, then every ten.
 */
export async function quietStep<T extends { done: string }>(
  name: string,
  doing: string,
  work: () => Promise<T>,
): Promise<T> {
  return timed({ name, doing, every_ms: SIGN_OF_LIFE_LATER_MS }, work);
}

async function timed<T extends { done: string }>(
  { name, doing, every_ms }: { name: string; doing: string; every_ms: number },
  work: () => Promise<T>,
): Promise<T> {
  const started = performance.now();
  const seconds = () => ((performance.now() - started) / 1000).toFixed(1);
  const tell = () => say(name, `${doing}, ${seconds()} s`);
  const first = every_ms === SIGN_OF_LIFE_MS ? undefined : setTimeout(tell, SIGN_OF_LIFE_MS);
  const ticker = setInterval(tell, every_ms);
  try {
    const result = await work();
    say(name, `${result.done} (${seconds()} s)`);
    return result;
  } finally {
    clearTimeout(first);
    clearInterval(ticker);
  }
}
