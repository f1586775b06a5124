import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  ATTEMPTS_MAX,
  type AttemptResult,
  judgeDelivery,
  judgeEndpoint,
  RETRY_SECONDS,
  readRetryAfter,
  retryDelayMs,
} from './schedule.ts';

const result = (code: number, more: Partial<AttemptResult> = {}): AttemptResult => ({
  ...{ code, latency_ms: 5, error: '', retry_after_ms: null },
  ...more,
});
const unit = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

test('every delay lies within a tenth of the schedule, and Retry-After only lengthens it', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: RETRY_SECONDS.length }),
      unit,
      fc.option(fc.integer({ min: 0, max: 86_400_000 })),
      (attempt, random, retry_after_ms) => {
        const planned_ms = (RETRY_SECONDS[attempt - 1] as number) * 1_000;
        const delay_ms = retryDelayMs(attempt, random, retry_after_ms);
        expect(delay_ms).toBeGreaterThanOrEqual(Math.max(planned_ms * 0.9, retry_after_ms ?? 0));
        expect(delay_ms).toBeLessThanOrEqual(Math.max(planned_ms * 1.1, retry_after_ms ?? 0));
      },
    ),
  );
});

test('a delivery ends after ten attempts, and sooner where its endpoint is switched off or takes it', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: ATTEMPTS_MAX }),
      fc.constantFrom(0, 199, 200, 204, 299, 301, 400, 404, 410, 429, 500, 503),
      fc.boolean(),
      unit,
      (attempt, code, is_active, random) => {
        const { status } = judgeDelivery(
          result(code),
          { attempt, attempts_max: ATTEMPTS_MAX, is_active },
          random,
        );
        if (code >= 200 && code < 300) expect(status).toBe('delivered');
        else if (attempt === ATTEMPTS_MAX) expect(status).toBe('failed');
        else expect(status).toBe(is_active ? 'queued' : 'dropped');
      },
    ),
  );
});

test.each([
  [503, '120', 120_000],
  [429, ' 0 ', 0],
  [429, '86400', 86_400_000],
  [429, '86401', null],
  [503, 'Sat, 21 Nov 2026 10:00:30 GMT', 30_000],
  [503, 'Sat, 21 Nov 2026 09:00:00 GMT', null],
  [503, 'soon', null],
  [503, '-1', null],
  [503, '1e3', null],
  [500, '120', null],
  [200, '120', null],
  [503, undefined, null],
  [503, ['1', '2'], null],
])('Retry-After of %s %j asks for %s ms', (status, header, expected) => {
  expect(readRetryAfter(status, header, Date.parse('2026-11-21T10:00:00Z'))).toBe(expected);
});

test('an endpoint is given up by 410 at once, by failure after five days and ten attempts', () => {
  const at = new Date('2026-11-21T10:00:00Z');
  const before = (days: number) => new Date(at.getTime() - days * 86_400_000);
  const judge = (code: number, days: number | null, failed_attempts: number) =>
    judgeEndpoint(result(code), { failing_since: days === null ? null : before(days), failed_attempts }, at);
  expect(judge(410, null, 0)).toMatchObject({ disable: 'gone', failing_since: at, failed_attempts: 1 });
  expect(judge(500, 5, 9)).toMatchObject({
    disable: 'failing',
    failing_since: before(5),
    failed_attempts: 10,
  });
  expect(judge(500, 5, 8).disable).toBeNull();
  expect(judge(500, 4.99, 500).disable).toBeNull();
  expect(judge(204, 30, 500)).toEqual({ disable: null, failing_since: null, failed_attempts: 0 });
});
