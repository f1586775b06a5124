import { expect, test } from 'vitest';
import { nextStep } from './schedule.ts';

const HOUR = 3_600_000;
/** Of a debit that was sent an hour after the attempt began. */
const sentFor = (hours: number) =>
  ({ status: 'charging', age_ms: HOUR + hours * HOUR, due_ms: HOUR, sent_ms: HOUR }) as Parameters<
    typeof nextStep
  >[0];

test('a debit without an end is put before the staff 36 hours after it was sent, once', () => {
  const almost = sentFor(36 - 1 / 3_600);
  expect(nextStep(almost, almost.age_ms, false)).toEqual({ do: 'poll', due_ms: almost.age_ms + HOUR });
  const silent = sentFor(36);
  expect(nextStep(silent, silent.age_ms, false)).toEqual({ do: 'report', due_ms: silent.age_ms });
  // It goes on being asked for, less often: nothing else may be debited before it has an end.
  expect(nextStep(silent, silent.age_ms, true)).toEqual({ do: 'poll', due_ms: silent.age_ms + 6 * HOUR });
});
