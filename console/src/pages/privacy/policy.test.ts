import { expect, test } from 'vitest';
import type { Fault } from '../../api/errors.ts';
import {
  changeOf,
  draftOf,
  effectsOf,
  faultsOf,
  hasLineBreaks,
  type Policy,
  policyOf,
  readDraft,
} from './policy.ts';

const policy: Policy = {
  logging: 'on',
  ...{ retention_days: 30, zdr: false, no_train: false, regions: ['eu'] },
  redact: { presets: ['phone', 'email'], patterns: ['PRJ-\\d+', ' x '] },
};
const fault = (field: string | null): Fault => ({
  ...{ code: 'invalid_request', message: 'It is wrong.', field },
  ...{ request_id: null, offline: false, retry_after_s: null, attempts_left: null },
});

test('what nobody touched is no change, in whatever order it is stored', () => {
  for (const one of [policy, policyOf({}), policyOf(null)]) {
    const next = readDraft(draftOf(one), one);
    expect([next && changeOf(one, next), next && effectsOf(one, next)]).toEqual([null, []]);
  }
});

test('what was changed alone is sent, and no other part is written over', () => {
  const draft = { ...draftOf(policy), days: ' 7 ', patterns: 'PRJ-\\d+\n\n x \n[a-z]{3}\n' };
  const next = readDraft(draft, policy) as Policy;
  expect(changeOf(policy, next)).toEqual({
    retentionDays: 7,
    redact: { patterns: ['PRJ-\\d+', ' x ', '[a-z]{3}'] },
  });
  const other = readDraft({ ...draftOf(policy), presets: new Set(['email', 'card']) }, policy) as Policy;
  expect(changeOf(policy, other)).toEqual({ redact: { presets: ['EMAIL', 'CARD'] } });
  const places = readDraft({ ...draftOf(policy), regions: 'us, eu us\n', zdr: true }, policy) as Policy;
  expect(changeOf(policy, places)).toEqual({ zdr: true, regions: ['us', 'eu'] });
});

test('a kind and a pattern that the form cannot show are kept', () => {
  const odd = { ...policy, redact: { presets: ['iban'], patterns: ['a\nb'] } };
  expect([hasLineBreaks(odd), hasLineBreaks(policy)]).toEqual([true, false]);
  const next = readDraft({ ...draftOf(odd), presets: new Set(['iban', 'email']) }, odd) as Policy;
  expect(next.redact).toEqual({ presets: ['email', 'iban'], patterns: ['a\nb'] });
});

test('days are a whole number from 0 to 365', () => {
  for (const days of ['', '366', '-1', '1.5', '1e2', 'ten', '0x1'])
    expect([days, readDraft({ ...draftOf(policy), days }, policy)]).toEqual([days, null]);
  for (const days of ['0', '365'])
    expect(readDraft({ ...draftOf(policy), days }, policy)?.retention_days).toBe(Number(days));
});

test('before it is saved it says what is deleted, refused and no longer replaced', () => {
  const to = (part: Partial<Policy>, from = policy) => effectsOf(from, { ...from, ...part });
  const off: Policy = { ...policy, logging: 'off' };
  expect(to({ logging: 'off' })).toEqual([expect.stringContaining('deleted within the hour')]);
  expect(to({ logging: 'on' }, off)).toEqual([
    expect.stringContaining('is stored from now on, redacted, for 30 days'),
  ]);
  expect(to({ logging: 'on', zdr: true }, off).join(' ')).not.toContain('from now on');
  expect(to({ retention_days: 7 })).toEqual([expect.stringContaining('longer than that is deleted')]);
  expect(to({ retention_days: 0 })).toEqual([expect.stringContaining('what is stored is deleted')]);
  expect([to({ retention_days: 60 }), to({ retention_days: 7 }, off)]).toEqual([[], []]);
  for (const part of [{ no_train: true }, { regions: ['us'] }])
    expect(to(part)).toEqual(['A call for which no endpoint is left is refused.']);
  expect(to({ zdr: true })).toHaveLength(2);
  expect(to({ regions: [] })).toEqual([]);
  expect(to({ redact: { presets: ['phone'], patterns: [] } })).toEqual([
    'No longer replaced: E-mail addresses.',
  ]);
});

test('a refusal goes to its field and names the pattern', () => {
  const at = (field: string | null) => faultsOf(fault(field), ['one', 'two']);
  expect(at('input.dataPolicy.redact.patterns.1')).toEqual({ patterns: 'two: It is wrong.' });
  expect(at('input.patterns.0')).toEqual({ patterns: 'one: It is wrong.' });
  expect(at('input.patterns')).toEqual({ patterns: 'It is wrong.' });
  expect(at('input.dataPolicy.retentionDays')).toEqual({ days: 'It is wrong.' });
  expect(at('input.dataPolicy.regions.3')).toEqual({ regions: 'It is wrong.' });
  expect([at('input.dataPolicy'), at(null)]).toEqual([null, null]);
});
