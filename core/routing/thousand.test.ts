// A decision over a thousand endpoints: under 200 µs on an idle machine, which `make bench` holds it to.
import { expect, test } from 'vitest';
import { measureDecisions } from './thousand.fixture.ts';

/** Beside other tests a decision takes longer; one that sorts all endpoints or hashes them takes this long anywhere. */
const BOUND_US = 1_000;

test('a decision over a thousand endpoints takes a fraction of a millisecond, also beside other tests', () => {
  for (const [name, median_us] of Object.entries(measureDecisions(300))) {
    expect(median_us, name).toBeLessThan(BOUND_US);
  }
});
