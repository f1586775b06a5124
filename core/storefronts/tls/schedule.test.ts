// When certificates are worked on next, and what problems of authorities are here.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { retryAfterMs } from './acme.ts';
import { faultOfProblem } from './faults.ts';
import { planRenewal, retryAt } from './schedule.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const now = new Date('2026-11-28T00:00:00Z');
const at = (ms: number) => new Date(now.getTime() + ms);

test('pauses grow, four attempts fit into an hour, and no pause is longer than a day', () => {
  const pauses = Array.from({ length: 12 }, (_, n) =>
    retryAt(n + 1, { now, retry_after_ms: null, die: 0 }).getTime(),
  );
  expect(pauses).toEqual(pauses.toSorted((a, b) => a - b));
  const minutes = pauses.map((ms) => (ms - now.getTime()) / 60_000);
  // The first attempt and three more; the fifth comes after more than an hour.
  expect([minutes[0]! + minutes[1]! + minutes[2]!, minutes[3]]).toEqual([21, 60]);
  expect(retryAt(1, { now, retry_after_ms: 9e12, die: 0.99 })).toEqual(at(DAY_MS));
  expect(retryAt(1, { now, retry_after_ms: 2 * HOUR_MS, die: 0 })).toEqual(at(2 * HOUR_MS));
});

test('without a word of the authority a certificate is renewed when a third of its life is left', () => {
  const life = { not_before: at(-59 * DAY_MS), not_after: at(31 * DAY_MS) };
  expect(planRenewal(life, null, { now, die: 0 })).toEqual({ renew: false, next_at: at(DAY_MS) });
  expect(planRenewal(life, null, { now: at(DAY_MS), die: 0 }).renew).toBe(true);
});

test('whatever window an authority names, a certificate is renewed before a sixth of its life is left, and looked at again', () => {
  const ms = fc.integer({ min: -100 * DAY_MS, max: 100 * DAY_MS });
  fc.assert(
    fc.property(
      ms,
      ms,
      fc.double({ min: 0, max: 0.999, noNaN: true }),
      fc.option(ms),
      (a, b, die, again_ms) => {
        const life = { not_before: at(-60 * DAY_MS), not_after: at(30 * DAY_MS) };
        const window = { start: at(Math.min(a, b)), end: at(Math.max(a, b)), again_ms };
        const { renew, next_at } = planRenewal(life, window, { now, die });
        expect(renew).toBe(next_at <= now);
        expect(next_at.getTime()).toBeLessThanOrEqual(at(15 * DAY_MS).getTime());
        expect(planRenewal(life, window, { now: at(15 * DAY_MS), die }).renew).toBe(true);
      },
    ),
  );
});

test.each([
  ['urn:ietf:params:acme:error:dns', 'name_unresolved'],
  ['urn:ietf:params:acme:error:connection', 'unreachable'],
  ['urn:ietf:params:acme:error:unauthorized', 'wrong_answer'],
  ['urn:ietf:params:acme:error:caa', 'caa_forbids'],
  ['urn:ietf:params:acme:error:rejectedIdentifier', 'name_refused'],
  ['urn:ietf:params:acme:error:rateLimited', 'rate_limited'],
  ['urn:ietf:params:acme:error:externalAccountRequired', 'account_refused'],
  ['urn:ietf:params:acme:error:serverInternal', 'authority_away'],
  ['urn:ietf:params:acme:error:somethingNew', 'authority_refuses'],
  ['constructor', 'authority_refuses'],
  ['', 'authority_refuses'],
])('the problem %s is %s', (type, fault) => {
  expect(faultOfProblem(type)).toBe(fault);
});

test.each([
  [undefined, null],
  ['120', 120_000],
  ['Sat, 28 Nov 2026 00:01:00 GMT', 60_000],
  ['Sat, 28 Nov 2020 00:01:00 GMT', 0],
  ['soon', null],
  ['99999999999', null],
])('a Retry-After of %s is %s ms', (header, ms) => {
  expect(retryAfterMs(header, now.getTime())).toBe(ms);
});
