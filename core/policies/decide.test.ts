// Which rules a call meets, and what several action sets ask together.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { matchesCall } from './decide.ts';
import { activePolicy, decide, type PolicyDocument } from './index.ts';
import { matchesGlob } from './language/glob.ts';
import { isWithin } from './language/time.ts';
import { callOf } from './test-kit.ts';

function ask(document: PolicyDocument, over: Parameters<typeof callOf>[0] = {}) {
  return decide(activePolicy('p', 3, document), callOf(over));
}

describe('rules', () => {
  test('the first match ends the search unless it continues, and the trace names all that matched', () => {
    const document: PolicyDocument = {
      sort: 'price',
      rules: [
        { name: 'none', match: { stream: true }, sort: 'latency' },
        { name: 'some', match: { models: ['acme/*'] }, continue: true, max_attempts: 2, sort: 'uptime' },
        { match: {}, sort: 'throughput' },
        { name: 'late', match: {}, max_attempts: 6 },
      ],
    };
    const ruling = ask(document);
    expect([ruling.policy, ruling.version, ruling.rule]).toEqual(['p', 3, 'some/rules.2']);
    expect([ruling.actions.sort, ruling.actions.max_attempts]).toEqual(['throughput', 2]);
    expect(ask(document, { model: 'other/medium' }).actions.max_attempts).toBeUndefined();
  });

  test('without a matching rule only the defaults apply', () => {
    const ruling = ask({ sort: 'price', defaults: { max_attempts: 1 }, rules: [] });
    expect([ruling.rule, ruling.actions.sort, ruling.actions.max_attempts]).toEqual(['-', 'price', 1]);
  });

  test('a denial ends the search even where its rule continues', () => {
    const document: PolicyDocument = {
      rules: [
        { name: 'no', match: {}, continue: true, deny: { message: 'not here' } },
        { match: {}, sort: 'price' },
      ],
    };
    expect(ask(document).deny).toBe('not here');
    expect(ask({ rules: [{ match: {}, deny: {} }] }).deny).toMatch(/does not allow/);
  });

  test('every key of a match must hold, any item of a list is enough, and not turns one around', () => {
    const call = callOf({ metadata: { team: 'a-1' }, has: { ...callOf().has, tools: true }, max_tokens: 10 });
    const yes = [
      {},
      { models: ['other/*', 'acme/l*'] },
      { vendor: 'acme', dialects: ['messages' as const, 'chat' as const] },
      { metadata: { team: ['b', 'a-*'] } },
      { has: ['images' as const, 'tools' as const] },
      { input_tokens: { min: 1_000, max: 1_000 }, max_tokens: { max: 10 } },
      { not: { models: ['acme/small'] } },
      { projects: [call.project_id], key_id: call.key_id, environments: ['live' as const] },
    ];
    for (const match of yes) expect([match, matchesCall(match, call)]).toEqual([match, true]);
    const no = [
      { models: ['acme/large'], stream: true },
      { model: 'large' },
      { vendors: ['other'] },
      { metadata: { team: ['a-*'], tier: ['*'] } as Record<string, string[]> },
      { metadata: { toString: ['**'] } as Record<string, string[]> },
      { input_tokens: { min: 1_001 } },
      { not: {} },
      { apps: ['x'] },
      { modalities_out: ['image' as const] },
    ];
    for (const match of no) expect([match, matchesCall(match, call)]).toEqual([match, false]);
    expect(matchesCall({ max_tokens: { min: 0 } }, callOf())).toBe(false);
  });
});

describe('combination', () => {
  test('a rule cannot loosen what the defaults protect', () => {
    const { actions } = ask({
      defaults: {
        require: {
          zdr: true,
          no_train: true,
          regions: ['eu'],
          max_retention_days: 1,
          max_price: { input: 2 },
        },
        providers: { only: ['alpha'], ignore: ['x'] },
        limits: { max_tokens: 100 },
        lock: ['sort'],
      },
      rules: [
        {
          match: {},
          require: {
            zdr: false,
            no_train: false,
            regions: ['us'],
            max_retention_days: 30,
            max_price: { input: 9 },
          },
          providers: { only: ['beta'], ignore: [] },
          limits: { max_tokens: 500, max_cost_micro: 7 },
          lock: [],
        },
      ],
    });
    expect([actions.zdr, actions.no_train, actions.max_retention_days]).toEqual([true, true, 1]);
    expect(actions.regions).toEqual([['eu'], ['us']]);
    expect(actions.only).toEqual([['alpha'], ['beta']]);
    expect(actions.max_price).toEqual({ input: 2 });
    expect(actions.limits).toEqual({ max_tokens: 100, max_input_tokens: null, max_cost_micro: 7 });
    expect([...actions.lock]).toEqual(['sort']);
    expect(actions.ignore).toEqual(['x']);
  });

  test('the same matching rules are combined once', () => {
    const policy = activePolicy('p', 1, { rules: [{ match: {}, sort: 'price' }] });
    expect(decide(policy, callOf()).actions).toBe(decide(policy, callOf({ stream: true })).actions);
  });
});

describe('globs', () => {
  const letters = fc.string({ unit: fc.constantFrom('a', 'b', '/'), maxLength: 8 });
  const anyGlob = fc.string({ unit: fc.constantFrom('a', 'b', '/', '*'), maxLength: 8 });

  test('a star stays within its segment, two stars do not: as the regular expression says', () => {
    fc.assert(
      fc.property(anyGlob, letters, (glob, text) => {
        const pattern = glob.replace(/\*+/g, (stars) => (stars.length > 1 ? '.*' : '[^/]*'));
        expect(matchesGlob(glob, text)).toBe(new RegExp(`^${pattern}$`).test(text));
      }),
      { numRuns: 3_000 },
    );
  });

  test('a hostile glob is answered at once', () => {
    const began = performance.now();
    for (let i = 0; i < 200; i++) expect(matchesGlob('*a*a*a*a*a*a*a*b', 'a'.repeat(512))).toBe(false);
    // One that backs up at each star would not end.
    expect(performance.now() - began).toBeLessThan(8_000);
  });
});

describe('time windows', () => {
  const at = (text: string) => Date.parse(text);

  test('from is inside and to is not, in the zone of the rule', () => {
    const window = { tz: 'Asia/Kolkata', from: '09:00', to: '19:00' };
    expect(isWithin(window, at('2026-11-23T03:29:59Z'))).toBe(false);
    expect(isWithin(window, at('2026-11-23T03:30:00Z'))).toBe(true);
    expect(isWithin(window, at('2026-11-23T13:29:59Z'))).toBe(true);
    expect(isWithin(window, at('2026-11-23T13:30:00Z'))).toBe(false);
  });

  test('a window over midnight belongs to the day on which it began', () => {
    const window = { tz: 'UTC', days: ['mon'] as const, from: '22:00', to: '06:00' };
    expect(isWithin(window, at('2026-11-23T22:00:00Z'))).toBe(true);
    expect(isWithin(window, at('2026-11-24T05:59:00Z'))).toBe(true);
    expect(isWithin(window, at('2026-11-23T05:59:00Z'))).toBe(false);
    expect(isWithin(window, at('2026-11-24T22:00:00Z'))).toBe(false);
  });
});
