// What a test file opened and how it ends. `afterAll` inside a test or a hook is never run: what is opened there is
// told to `atFileEnd` instead, and test/suite/setup.ts ends it.

const ends: (() => Promise<unknown>)[] = [];

/** Runs `end` after the last test of the file, the latest first; may be called anywhere in it. */
export function atFileEnd(end: () => Promise<unknown>): void {
  ends.push(end);
}

/** Ends all that the file has opened. One that fails does not keep the others from their end. */
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
