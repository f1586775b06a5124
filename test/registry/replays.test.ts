// A repeat with the same Idempotency-Key (docs/api.md) makes nothing anew: what customers make by hand, one after the other.
import { microUsd } from '@svc/core/kernel/index.ts';
import { credit } from '@svc/core/ledger/index.ts';
import { expect, test } from 'vitest';
import { startHarness } from './harness.ts';

const harness = await startHarness();
const { a, call } = harness;

const ask = { input: { messages: [{ role: 'user', content: 'Say yes.' }] } };
const cases = [{ id: 'one', ...ask, grader: { kind: 'exact', expected: 'yes' } }];
await credit(harness.pool, {
  ...{ book_id: a.org.live_book_id, kind: 'grant', amount_micro_usd: microUsd(1_000_000), granted: true },
  ...{ expires_at: null, ref_type: 'staff', ref_id: 'replays' },
});
const suite = await call('POST', '/v1/evals/suites', { key: a.key, body: { name: 'Replays', cases } });
const run = { suite_id: suite.json().id, targets: [{ model: 'openai/gpt-4o-mini' }], budget_micro: 1_000 };
const owner = await harness.signIn(await harness.makePerson(a, 'owner'));

/** What is made, where it is listed, by whom it is asked for, and a body that would make another one. */
const made: Readonly<Record<string, { path: string; key?: string; body: object; other: object }>> = {
  'a project': {
    path: '/v1/projects',
    body: { name: 'Once', slug: 'once' },
    other: { name: 'Twice', slug: 'twice' },
  },
  'a webhook': {
    path: '/v1/webhooks',
    body: { url: 'https://hooks.example.com/once', events: ['key.created'] },
    other: { url: 'https://hooks.example.com/twice', events: ['key.created'] },
  },
  'a provider key': {
    path: '/v1/byok',
    body: { provider_id: 'openai', secret: 'sk-once-0123456789abcdef', label: 'Once' },
    other: { provider_id: 'openai', secret: 'sk-twice-0123456789abcdef', label: 'Twice' },
  },
  'a ticket': {
    path: '/v1/tickets',
    body: { subject: 'Once', body: 'It happened once.' },
    other: { subject: 'Twice', body: 'It happened twice.' },
  },
  'an invitation': {
    path: `/v1/orgs/${a.org.id}/invitations`,
    key: owner,
    body: { email: 'once@elsewhere.example', role: 'developer' },
    other: { email: 'twice@elsewhere.example', role: 'developer' },
  },
  'an evaluation run': { path: '/v1/evals/runs', body: run, other: { ...run, budget_micro: 2_000 } },
};

test.each(Object.entries(made))('%s is made once', async (name, { path, key = a.key, body, other }) => {
  const listed = async () => (await call('GET', path, { key })).json().data.length as number;
  const before = await listed();
  const send = (sent: object) =>
    call('POST', path, { key, body: sent, headers: { 'idempotency-key': `replay of ${name}` } });
  const first = await send(body);
  expect(first.statusCode, first.body).toBe(201);
  const again = await send(body);
  expect([again.statusCode, again.json()]).toEqual([201, first.json()]);
  expect(await listed()).toBe(before + 1);
  const changed = await send(other);
  expect([changed.statusCode, changed.json().error.code]).toEqual([422, 'idempotency_conflict']);
  expect(await listed()).toBe(before + 1);
});
