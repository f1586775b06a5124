import { expect, test } from 'vitest';
import { callName, costText, formerText, providerName, secretFault, standingOf, triedMark } from './words.ts';

test('a key that nobody tried is not called good, and a refused one is refused whenever it was good', () => {
  const at = '2026-11-20T10:00:00.000Z';
  expect(standingOf({ status: 'ACTIVE', validatedAt: null }).word).toBe('not tried yet');
  expect(standingOf({ status: 'ACTIVE', validatedAt: at }).word).toBe('accepted');
  expect(standingOf({ status: 'REJECTED', validatedAt: at }).word).toBe('refused');
});

const tried = (status: number, more: object = {}, key: object = {}) =>
  triedMark(
    {
      key: { status: 'ACTIVE', label: 'research', ...key },
      validation: { ok: false, status, models: null, message: null, ...more },
    },
    'OpenAI',
  );

test('trying a key says what the provider answered, in its words where it refuses', () => {
  expect(tried(200, { ok: true, models: 71 })).toEqual({
    tone: 'ok',
    word: 'OpenAI accepts the key research. It lists 71 models for it.',
  });
  expect(tried(400, { ok: true }, { label: '' }).word).toBe('OpenAI accepts the key.');
  expect(tried(401, { message: 'Incorrect API key.' }, { status: 'REJECTED' })).toEqual({
    tone: 'bad',
    word: 'OpenAI refuses the key research (HTTP 401). It says: “Incorrect API key.”',
  });
  expect(tried(403, {}, { status: 'REJECTED' }).word).toBe('OpenAI refuses the key research (HTTP 403).');
});

test('a provider that is down, throttles or fails says nothing of the key, also of one that it refused before', () => {
  expect(tried(0).word).toBe(
    'OpenAI did not answer, so nothing is known of the key research. Try again later.',
  );
  for (const status of [429, 500, 503])
    expect(tried(status, { message: 'Later.' }, { status: 'REJECTED' })).toEqual({
      tone: 'warn',
      word: `OpenAI could not say anything of the key research (HTTP ${status}). It says: “Later.”`,
    });
});

test('what can be no key is said before it is sent', () => {
  expect(secretFault('sk-0123456789')).toBeNull();
  expect(secretFault('')).toMatch(/Paste the key/);
  expect(secretFault('sk-0123')).toMatch(/at least 8/);
  for (const secret of ['sk-0123 456789', 'sk-0123\n456789', 'sk-0123456789é'])
    expect(secretFault(secret)).toMatch(/no blanks/);
});

test('a key is called by its label, else by its provider, which may have left the catalog', () => {
  const providers = [{ id: 'openai', name: 'OpenAI', byokCapable: true }];
  expect(callName({ label: 'research' }, 'OpenAI')).toBe('research');
  expect(callName({ label: '' }, providerName(providers, 'openai'))).toBe('OpenAI');
  expect(providerName(providers, 'gone')).toBe('gone');
  expect([{ hint: '...x7Qe' }, { hint: '...' }].map(formerText)).toEqual([
    'the one that ends in ...x7Qe',
    'the one before',
  ]);
  expect(costText(500)).toContain('costs 5% of their list price');
});
