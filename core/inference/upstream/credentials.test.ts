// Provider keys: which form signs, which is sent as it is; who rests, for how long, and who hears of it.

import type { IncomingMessage } from 'node:http';
import { verifySignature } from '@svc/test/sim/providers/bedrock/sigv4.ts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Provider } from '../../catalog/index.ts';
import { type Log, silentLog } from '../../kernel/index.ts';
import { builtIn } from '../formats/index.ts';
import { createCredentials, credentialFrom } from './credentials.ts';
import { readAwsKey, type Signable, signingRegion } from './sigv4.ts';

const { kinds } = builtIn;

const provider = (kind: Provider['kind']): Provider => ({
  id: 'p',
  name: 'P',
  kind,
  base_url: 'https://bedrock-runtime.eu-central-1.amazonaws.com',
  api_key_env: ['K'],
  api_key_file: [],
  regions: [],
  data_policy: { trains: false, retention_days: 0, zdr: true },
  terms_url: null,
  verified_at: null,
  byok: 'no',
});

const account = { access_key_id: 'AKIATEST', secret: 'se/cr+et=', session_token: 'to/ken==' };
const KEY = `${account.access_key_id}:${account.secret}:${account.session_token}`;

/** What the provider sees of `request` signed with `key`. */
async function signed(key: string, request: Signable): Promise<IncomingMessage> {
  const { headers, sign } = credentialFrom(kinds, provider('bedrock'), key);
  if (sign === undefined) throw new Error('the key does not sign');
  const flat = [...headers, ...(await sign(request)), 'content-type', 'application/json'];
  const seen: Record<string, string> = { host: new URL(request.base_url).host };
  for (let i = 0; i < flat.length; i += 2) seen[(flat[i] as string).toLowerCase()] = flat[i + 1] as string;
  return { headers: seen, url: request.path } as unknown as IncomingMessage;
}

const request = (more: Partial<Signable> = {}): Signable => ({
  base_url: 'https://bedrock-runtime.eu-central-1.amazonaws.com',
  path: '/model/eu.anthropic.claude%3A0/converse',
  body: Buffer.from('{}'),
  region: 'eu',
  ...more,
});

describe('signatures', () => {
  test('any path and body are signed as the provider computes it', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit: 'grapheme', minLength: 1 }),
        fc.uint8Array(),
        async (model, bytes) => {
          fc.pre(model !== '.' && model !== '..');
          const one = request({
            path: `/model/${encodeURIComponent(model)}/converse`,
            body: Buffer.from(bytes),
          });
          const seen = await signed(KEY, one);
          expect(verifySignature(seen, one.body, [account], 'eu-central-1')).toBe(account);
        },
      ),
      { numRuns: 60 },
    );
  });

  test('another body, another secret or another path is not what was signed', async () => {
    const seen = await signed(KEY, request());
    const check = (body: string, secret = account.secret) =>
      verifySignature(seen, Buffer.from(body), [{ ...account, secret }], 'eu-central-1');
    expect(check('{}')).toMatchObject({ access_key_id: 'AKIATEST' });
    expect(check('{ }')).toMatchObject({ type: 'InvalidSignatureException' });
    expect(check('{}', 'other')).toMatchObject({ type: 'InvalidSignatureException' });
    seen.url = '/model/other/converse';
    expect(check('{}')).toMatchObject({ type: 'InvalidSignatureException' });
  });

  test('without a session token none is sent', async () => {
    const seen = await signed('AKIATEST:secret', request());
    expect(seen.headers['x-amz-security-token']).toBeUndefined();
    expect(
      verifySignature(
        seen,
        request().body,
        [{ access_key_id: 'AKIATEST', secret: 'secret' }],
        'eu-central-1',
      ),
    ).toMatchObject({
      secret: 'secret',
    });
  });

  test.each([
    ['https://bedrock-runtime.us-west-2.amazonaws.com', 'eu-west-1', 'us-west-2'],
    ['https://bedrock-runtime-fips.us-gov-west-1.amazonaws.com', '', 'us-gov-west-1'],
    ['https://vpce-1-2.bedrock-runtime.eu-north-1.vpce.amazonaws.com', '', 'eu-north-1'],
    ['http://127.0.0.1:9/x', 'eu-central-1', 'eu-central-1'],
    ['https://proxy.example', 'global', 'us-east-1'],
  ])('%s with region %j is signed for %s', (base_url, region, expected) => {
    expect(signingRegion(base_url, region)).toBe(expected);
  });

  test.each([':s', 'a:', 'a:s:', 'a:s:t:u'])('%j is no key, and the refusal does not show it', (key) => {
    expect(readAwsKey(key)).toBeNull();
    expect(() => credentialFrom(kinds, provider('bedrock'), key)).toThrow(/ACCESS_KEY_ID:SECRET/);
    expect(() => credentialFrom(kinds, provider('bedrock'), `planted-secret::x:${key}`)).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining('planted') }),
    );
  });

  test('a key without a colon is a bearer token; other providers never sign', () => {
    expect(credentialFrom(kinds, provider('bedrock'), 'ABSK1')).toMatchObject({
      headers: ['authorization', 'Bearer ABSK1'],
    });
    expect(credentialFrom(kinds, provider('openai'), 'a:b')).toMatchObject({
      headers: ['authorization', 'Bearer a:b'],
    });
    expect(credentialFrom(kinds, provider('openai'), 'a:b').sign).toBeUndefined();
  });
});

describe('the pool', () => {
  function heard(): { log: Log; alerts: object[] } {
    const alerts: object[] = [];
    return { alerts, log: { ...silentLog, error: (fields) => void alerts.push(fields) } };
  }

  test('a refused key is not used for ten minutes and is reported once in that time, by provider and handle only', () => {
    const { log, alerts } = heard();
    const one = provider('openai');
    const pool = createCredentials(kinds, () => ['planted-a', 'planted-b'], log);
    const first = pool.take(one, 0)!;
    for (const at of [0, 1, 599_999]) pool.report(first.handle, 'auth', undefined, at);
    expect(alerts).toEqual([
      { alert: 'provider_key_parked', provider: 'p', key: first.handle, class: 'auth', seconds: 600 },
    ]);
    expect(JSON.stringify(alerts)).not.toContain('planted');
    for (const at of [1, 2, 1_000_000]) expect(pool.take(one, at)?.handle).not.toBe(first.handle);
    pool.report(first.handle, 'quota', undefined, 1_300_000);
    expect(alerts).toHaveLength(2);
  });

  test('throttling rests a key for the time that the provider names, and never wakes a parked one', () => {
    const { log, alerts } = heard();
    const one = provider('openai');
    const pool = createCredentials(kinds, () => ['a', 'b'], log);
    const [x, y] = [pool.take(one, 0)!, pool.take(one, 0)!];
    pool.report(x.handle, 'rate_limit', 7_000, 0);
    expect([1, 2, 3].map((at) => pool.take(one, at)?.handle)).toEqual([y.handle, y.handle, y.handle]);
    expect([7_000, 7_001].map((at) => pool.take(one, at)?.handle)).toContain(x.handle);
    pool.report(x.handle, 'auth', undefined, 10_000);
    pool.report(x.handle, 'rate_limit', 1_000, 10_001);
    expect([20_000, 20_001].map((at) => pool.take(one, at)?.handle)).toEqual([y.handle, y.handle]);
    expect(alerts).toHaveLength(1);
  });

  test('a key that cannot be read is left out and reported; the others answer', () => {
    const { log, alerts } = heard();
    const pool = createCredentials(kinds, () => ['AKIA:planted:x:y', KEY], log);
    expect(pool.take(provider('bedrock'), 0)?.sign).toBeTypeOf('function');
    expect(alerts).toMatchObject([{ alert: 'provider_key_unusable', provider: 'p' }]);
    expect(String((alerts[0] as { error: Error }).error)).not.toContain('planted');
    expect(createCredentials(kinds, () => [':'], log).take(provider('bedrock'), 0)).toBeNull();
  });
});
