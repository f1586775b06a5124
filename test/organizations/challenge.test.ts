// The bot challenge before an account is asked for, with both providers' stand-ins: what they do not vouch for is refused.
// A provider that does not answer is waited for in real time: three seconds each.
import { signInSettings } from '@svc/core/identity/index.ts';
import { ConfigError, readConfig } from '@svc/core/kernel/index.ts';
import { afterEach, describe, expect, test } from 'vitest';
import { codeOf } from '../registry/harness.ts';
import { type ChallengeMood, startChallengeSim } from '../sim/challenge.ts';
import { startWorld } from './world.ts';

const SECRET = 'secret of the site';
const providers = ['turnstile', 'hcaptcha'] as const;
const sims = {
  turnstile: await startChallengeSim({ secret: SECRET, provider: 'turnstile' }),
  hcaptcha: await startChallengeSim({ secret: SECRET, provider: 'hcaptcha' }),
};
const settingsOf = (provider: string, more: Record<string, string> = {}) =>
  signInSettings(
    readConfig({
      ...{ SVC_SIGNUP: 'open', SVC_CHALLENGE: provider, SVC_CHALLENGE_SITE_KEY: 'site' },
      ...{ SVC_CHALLENGE_SECRET: SECRET, ...more },
    }),
    'http://127.0.0.1:8080',
  );
/** Each test says which provider the installation has. */
const sign_in = { ...settingsOf('turnstile') };
const world = await startWorld({ services: { sign_in } });

function choose(provider: (typeof providers)[number], secret = SECRET): void {
  const env = { SVC_CHALLENGE_URL: sims[provider].url, SVC_CHALLENGE_SECRET: secret };
  Object.assign(sign_in, settingsOf(provider, env));
}

afterEach(() => {
  for (const sim of Object.values(sims)) sim.turn('well');
});

let people = 0;
async function register(answer?: string, more: object = {}) {
  const email = `ravi${++people}@challenged.example`;
  const response = await world.call('POST', '/v1/auth/register', {
    ip: `198.51.100.${people}`,
    body: { email, password: 'seven quiet rivers', name: 'Ravi', accept_terms: true, ...more },
    ...(answer === undefined ? {} : { headers: { 'x-svc-challenge': answer } }),
  });
  return { response, mails: await world.mailsTo('email_verification', email) };
}

describe.each(providers)('%s', (provider) => {
  const sim = sims[provider];

  test('a good answer passes once, and the provider learns from which address it came', async () => {
    choose(provider);
    const answer = sim.solve();
    const passed = await register(answer);
    expect([passed.response.statusCode, passed.mails]).toEqual([201, 1]);
    expect(sim.asked.at(-1)).toEqual({ secret: SECRET, response: answer, remoteip: `198.51.100.${people}` });
    const again = await register(answer);
    expect([again.response.statusCode, codeOf(again.response), again.mails]).toEqual([
      400,
      'challenge_failed',
      0,
    ]);
  });

  test('one answer sent by eight at once lets one pass', async () => {
    choose(provider);
    const answer = sim.solve();
    const all = await Promise.all(Array.from({ length: 8 }, () => register(answer)));
    expect(all.map(({ response }) => response.statusCode).sort()).toEqual([201, ...Array(7).fill(400)]);
  });

  test('without an answer, or with one that is too long, nobody passes and the provider is not asked', async () => {
    choose(provider);
    const before = sim.asked.length;
    for (const answer of [undefined, '', 'x'.repeat(8_193)])
      expect(codeOf((await register(answer)).response)).toBe('challenge_failed');
    expect(sim.asked).toHaveLength(before);
    expect(codeOf((await register('invented')).response)).toBe('challenge_failed');
  });

  test.each(['down', 'hanging', 'garbage', 'broken', 'silent'] as const satisfies ChallengeMood[])(
    'nobody passes while the provider is %s',
    async (mood) => {
      choose(provider);
      sim.turn(mood);
      const { response, mails } = await register(sim.solve());
      expect([response.statusCode, codeOf(response), mails]).toEqual([503, 'challenge_unavailable', 0]);
    },
  );

  test('a secret that the provider does not know is a fault of ours, and lets nobody pass', async () => {
    choose(provider, 'another secret');
    expect(codeOf((await register(sim.solve())).response)).toBe('challenge_unavailable');
  });
});

test('what is refused anyway costs no answer', async () => {
  choose('turnstile');
  const answer = sims.turnstile.solve();
  expect(codeOf((await register(answer, { password: 'password1234' })).response)).toBe('weak_password');
  expect((await register(answer, { accept_terms: false })).response.statusCode).toBe(400);
  expect((await register(answer)).response.statusCode).toBe(201);
});

test('an address where nobody listens lets nobody pass', async () => {
  Object.assign(sign_in, settingsOf('turnstile', { SVC_CHALLENGE_URL: 'http://127.0.0.1:9/siteverify' }));
  expect(codeOf((await register('some answer')).response)).toBe('challenge_unavailable');
});

test('a challenge without its keys stops the start; without one everybody passes', async () => {
  const bare = (env: Record<string, string>) => () =>
    signInSettings(readConfig(env), 'http://127.0.0.1:8080');
  expect(bare({ SVC_CHALLENGE: 'turnstile' })).toThrow(ConfigError);
  expect(bare({ SVC_CHALLENGE: 'hcaptcha', SVC_CHALLENGE_SITE_KEY: 'site' })).toThrow(/SVC_CHALLENGE_SECRET/);
  Object.assign(sign_in, { challenge: null });
  expect((await register()).response.statusCode).toBe(201);
});

test('nobody met a defect', () => {
  expect(world.defects).toEqual([]);
});
