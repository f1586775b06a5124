// Closes what a test file opened. vitest never runs an `afterAll` that is registered inside a test or a hook, so what
// is opened there is registered with `atFileEnd`, and test/suite/setup.ts closes it.

const ends: (() => Promise<unknown>)[] = [];

/** Runs `end` after the last test of the file, the last registered first. May be called anywhere in the file. */
export function atFileEnd(end: () => Promise<unknown>): void {
  ends.push(end);
}

/** Runs every registered end. One that fails does not prevent the others. */
export async function endFile(): Promise<void> {
  const failures: unknown[] = [];
  for (let end = ends.pop(); end !== undefined; end = ends.pop()) {
    try {
      await end();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length === 1) throw failures[0];
  if (failures.length > 1) throw new AggregateError(failures, 'some of what the file opened did not end');
}
