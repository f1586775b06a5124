// The oracle itself is tested: with a piece of the product broken on purpose it must find a fault. These are some of
// test/mutations/product; `make mutations` takes all of them.
import { describe, expect, test, vi } from 'vitest';
import { mutations } from '../mutations/product/mutations.ts';
import { runCrash } from './run.ts';

const some = ['a settle that may be repeated', 'journals that are gone when a process comes back'];

// Most of a round is waiting for leases and for a server to come back; each mutation has a world of its own.
vi.setConfig({ maxConcurrency: 4 });

describe('the oracle notices', () => {
  test('all of them are there', () => {
    expect(mutations.map(({ name }) => name)).toEqual(expect.arrayContaining(some));
  });

  test.concurrent.each(mutations.filter(({ name }) => some.includes(name)))(
    '$name',
    { timeout: 300_000 },
    async ({ kinds, broken, said }) => {
      const report = await runCrash({
        // What was lost never comes: twice what a sound round takes at most is enough to wait.
        quiet_ms_max: 15_000,
        ...{ rounds: 3, seed: 11, calls: 150, in_flight: 80 },
        ...(kinds === undefined ? {} : { kinds }),
        ...broken,
      });
      expect(report.faults.join('\n')).toMatch(said);
    },
  );
});
