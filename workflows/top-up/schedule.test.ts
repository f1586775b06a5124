import fc from 'fast-check';
import { expect, test } from 'vitest';
import { nextStep, type PollState, pollAges } from './schedule.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const OPEN = 23 * HOUR;
const at = (age_ms: number, more: Partial<PollState> = {}): PollState => ({
  status: 'pending',
  fee_known: false,
  age_ms,
  open_ms: OPEN,
  ...more,
});

test('a top-up open for 23 hours is looked at after 2, 5, 15 and 60 min, hourly, at 23 h and at 48 h', () => {
  const hours = Array.from({ length: 23 }, (_, i) => (i + 1) * HOUR);
  expect(pollAges(OPEN)).toEqual([2 * MINUTE, 5 * MINUTE, 15 * MINUTE, ...hours, 48 * HOUR]);
});

test('of looks that were missed the latest alone is made up for, and it comes before the end', () => {
  expect(nextStep(at(10 * HOUR), -1)).toEqual({ do: 'poll', due_ms: 10 * HOUR });
  expect(nextStep(at(100 * HOUR), -1)).toEqual({ do: 'poll', due_ms: 48 * HOUR });
  expect(nextStep(at(100 * HOUR), 48 * HOUR)).toEqual({ do: 'end', due_ms: 49 * HOUR });
});

test('what is over is looked at once more for late money; what waits for a person is not; what is known ends', () => {
  for (const status of ['failed', 'expired'] as const) {
    expect(nextStep(at(HOUR, { status }), -1)).toEqual({ do: 'poll', due_ms: 48 * HOUR });
  }
  expect(nextStep(at(HOUR, { status: 'review' }), -1)).toEqual({ do: 'end', due_ms: 49 * HOUR });
  expect(nextStep(at(HOUR, { status: 'paid', fee_known: true }), -1)).toEqual({ do: 'end', due_ms: HOUR });
  expect(nextStep(at(90_000, { status: 'paid' }), -1)).toEqual({ do: 'poll', due_ms: 2 * MINUTE });
});

test('from any age and in any state, steps only go forward and come to an end', () => {
  const state = fc.record({
    status: fc.constantFrom('pending', 'review', 'paid', 'failed', 'expired'),
    fee_known: fc.boolean(),
    age_ms: fc.integer({ min: 0, max: 400 * HOUR }),
    open_ms: fc.integer({ min: MINUTE, max: 200 * HOUR }),
  });
  fc.assert(
    fc.property(state, (first) => {
      let done_ms = -1;
      let { age_ms } = first;
      for (let steps = 0; ; steps++) {
        expect(steps).toBeLessThan(300);
        const step = nextStep({ ...first, age_ms } as PollState, done_ms);
        if (step.do === 'end') return;
        expect(step.due_ms).toBeGreaterThan(done_ms);
        done_ms = step.due_ms;
        age_ms = Math.max(age_ms, step.due_ms);
      }
    }),
  );
});
