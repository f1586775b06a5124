import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { deriveKey, seal } from '../kernel/index.ts';
import {
  newWebhookSecret,
  openReplaced,
  openSecret,
  sealReplaced,
  sealSecret,
  secretHint,
  signedHeaders,
} from './sign.ts';

const root_key = Buffer.alloc(32, 7);

test('the example of docs/webhooks.md#what-arrives is signed as written', () => {
  const body =
    '{"id":"evt_01JD0000000000000000000000","type":"topup.completed","timestamp":"2026-11-21T10:00:00.000Z","org_id":"org_01JD0000000000000000000001","data":{"topup_id":"tup_01JD0000000000000000000002","credits_micro":11107346}}';
  const headers = signedHeaders({
    event_id: 'evt_01JD0000000000000000000000',
    body,
    at_ms: 1_795_255_201_000,
    secrets: ['whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3'],
  });
  expect(headers).toEqual({
    'webhook-id': 'evt_01JD0000000000000000000000',
    'webhook-timestamp': '1795255201',
    'webhook-signature': 'v1,IAtRPEGCKGy9XVDCnLHNe1RLR9kzigk/gLbqhHhk2nQ=',
    'content-type': 'application/json',
    'user-agent': 'svc-webhooks/1',
  });
});

test('each secret signs, and a receiver that has one of them is content', () => {
  const secrets = [newWebhookSecret(), newWebhookSecret()];
  const body = '{"é":"\u2028"}';
  const headers = signedHeaders({ event_id: 'evt_x', body, at_ms: Date.now(), secrets });
  expect(headers['webhook-signature']?.split(' ')).toHaveLength(2);
  for (const secret of secrets) expect(new Webhook(secret).verify(body, headers)).toEqual({ é: '\u2028' });
  expect(() => new Webhook(newWebhookSecret()).verify(body, headers)).toThrow();
  expect(() => new Webhook(secrets[0] as string).verify(`${body} `, headers)).toThrow();
});

test('a secret is 24 random bytes, and its hint shows four characters', () => {
  const secret = newWebhookSecret();
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{32}$/);
  expect(secretHint(secret)).toBe(`whsec_...${secret.slice(-4)}`);
  expect(newWebhookSecret()).not.toBe(secret);
});

test('a sealed secret opens for its endpoint and key ring alone', () => {
  const secret = newWebhookSecret();
  const sealed = sealSecret(root_key, 'wh_a', secret);
  expect(openSecret(root_key, 'wh_a', sealed)).toBe(secret);
  expect(() => openSecret(root_key, 'wh_b', sealed)).toThrow();
  expect(() => openSecret(Buffer.alloc(32, 8), 'wh_a', sealed)).toThrow();
  expect(sealed.includes(secret.slice(6))).toBe(false);
});

test('a replaced secret that an earlier release has stored signs until the end that stands beside it', () => {
  const secret = newWebhookSecret();
  const ends_at = new Date(5_000);
  const sealed = seal(deriveKey(root_key, 'webhook secret'), Buffer.from(secret), 'webhook wh_a secret');
  const at = (at_ms: number) => openReplaced(root_key, 'wh_a', { sealed, ends_at, at_ms });
  expect(at(4_999)).toEqual([{ secret, until_ms: 5_000 }]);
  expect(at(5_000)).toEqual([]);
  const again = sealReplaced(root_key, 'wh_a', at(4_999));
  expect(openReplaced(root_key, 'wh_a', { sealed: again, ends_at, at_ms: 4_999 })).toEqual(at(4_999));
});
