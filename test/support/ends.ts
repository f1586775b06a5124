// What a test file opened and how it ends. `afterAll` inside a test or a hook is never run: what is opened there is
// told to `atFileEnd` instead, which was set up when the file was read.
import { afterAll } from 'vitest';

const ends: (() => Promise<unknown>)[] = [];

afterAll(async () => {
  for (let end = ends.pop(); end !== undefined; end = ends.pop()) await end();
});

/** Runs `end` after the last test of the file, the latest first; may be called anywhere in it. */
export function atFileEnd(end: () => Promise<unknown>): void {
  ends.push(end);
}
