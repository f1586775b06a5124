import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  readCreditsSearch,
  readKeysSearch,
  readPoliciesSearch,
  readPolicySearch,
  readRequestsSearch,
  readSignInSearch,
  readWebhookSearch,
} from './search.ts';

test('what is valid stays, what is unknown or wrong is dropped', () => {
  expect(readRequestsSearch({ status: 'error', model: 'openai/gpt', key: 'key_1', moved: 'true' })).toEqual({
    status: 'error',
    model: 'openai/gpt',
    key: 'key_1',
    moved: true,
  });
  expect(readRequestsSearch({ provider: 'acme', since: '7d' })).toEqual({ provider: 'acme', since: '7d' });
  expect(readRequestsSearch({ since: 'yesterday' })).toEqual({});
  expect(readRequestsSearch({ id: '01kacz', from: '2026-13-01T00:00Z', to: 'today' })).toEqual({
    id: '01KACZ',
  });
  expect(readRequestsSearch({ status: 'ERROR', model: 'two words', secret: 'x' })).toEqual({});
  expect(readCreditsSearch({ topup: 'tup_01KACZ3V8S6T5R4Q3P2N1M0K9J', add: '1' })).toEqual({
    topup: 'tup_01KACZ3V8S6T5R4Q3P2N1M0K9J',
    add: true,
  });
  expect(readPolicySearch({ version: '3' })).toEqual({ version: 3 });
  for (const version of [0, -1, 1.5, 'x', 2 ** 31]) expect(readPolicySearch({ version })).toEqual({});
  expect(readCreditsSearch({ topup: 'javascript:alert(1)' })).toEqual({});
});

test('a log of deliveries is filtered by states and events that there can be', () => {
  const both = { state: 'failed', event: 'topup.completed' };
  expect(readWebhookSearch(both)).toEqual(both);
  expect(readWebhookSearch({ state: 'FAILED', event: 'all' })).toEqual({});
  expect(readWebhookSearch({ state: 3, event: '../topup.completed' })).toEqual({});
});

test('two times are a range whichever came first, and a range takes the place of how far back', () => {
  const [early, late] = ['2026-11-19T18:30Z', '2026-11-20T18:30Z'];
  expect(readRequestsSearch({ from: late, to: early, since: '7d' })).toEqual({ from: early, to: late });
  expect(readRequestsSearch({ to: early })).toEqual({ to: early });
});

test('signing in leads to a path of this console and nowhere else', () => {
  expect(readSignInSearch({ next: '/acme/live/keys?create=true' })).toEqual({
    next: '/acme/live/keys?create=true',
  });
  for (const next of [
    '//evil.example',
    '/\\evil.example',
    'https://evil.example',
    'javascript:alert(1)',
    '/\t/evil.example',
    7,
  ]) {
    expect(readSignInSearch({ next })).toEqual({});
  }
});

test('no address breaks a page', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.anything()), (raw) => {
      for (const read of [
        ...[readRequestsSearch, readKeysSearch, readCreditsSearch],
        ...[readPoliciesSearch, readPolicySearch, readWebhookSearch],
      ]) {
        expect(Object.values(read(raw)).every((value) => value !== undefined)).toBe(true);
      }
    }),
  );
});
