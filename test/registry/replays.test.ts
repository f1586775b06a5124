// An idempotency key on what makes an object: it is made once, however often and however many at once, the first answer comes again,
// and another request under the key is refused.
import { operations } from '@svc/core/operations/index.ts';
import { beforeAll, expect, test } from 'vitest';
import { codeOf, startHarness } from './harness.ts';

const harness = await startHarness();
const { a, call } = harness;
const SECRET = 'sk-planted-0123456789-TAIL';
let owner = '';
let suite_id = '';
beforeAll(async () => {
  owner = await harness.signIn(await harness.makePerson(a, 'owner'));
  const input = { messages: [{ role: 'user', content: 'Say yes.' }] };
  const cases = [{ id: 'yes', input, grader: { kind: 'exact', expected: 'yes' } }];
  suite_id = (await call('POST', '/v1/evals/suites', { key: a.key, body: { name: 'S', cases } })).json().id;
});

interface Made {
  readonly name: string;
  readonly path: () => string;
  readonly body: (n: number) => object;
  /** How many there are of what body `n` makes. */
  readonly count: string;
  readonly key?: () => string;
}

const made: readonly Made[] = [
  {
    name: 'projects.create',
    path: () => '/v1/projects',
    body: (n) => ({ name: `Project ${n}`, slug: `once-${n}` }),
    count: `select count(*)::int as n from project where slug like 'once-%'`,
  },
  {
    name: 'evals.runs.create',
    path: () => '/v1/evals/runs',
    body: (n) => ({ suite_id, targets: [{ model: 'openai/gpt-4o-mini' }], budget_micro: 1_000_000 + n }),
    count: 'select count(*)::int as n from eval_run where budget_micro >= 1000000',
    key: () => a.test_key,
  },
  {
    name: 'invitations.create',
    path: () => `/v1/orgs/${a.org.id}/invitations`,
    body: (n) => ({ email: `once-${n}@acme.example`, role: 'viewer' }),
    count: `select count(*)::int as n from mail where template = 'invitation' and recipient like 'once-%'`,
    key: () => owner,
  },
  {
    name: 'byok.create',
    path: () => '/v1/byok',
    body: (n) => ({ provider_id: 'openai', secret: SECRET, label: `once-${n}` }),
    count: `select count(*)::int as n from byok_key where label like 'once-%'`,
  },
  {
    name: 'webhooks.create',
    path: () => '/v1/webhooks',
    body: (n) => ({ url: `https://93.184.215.14/once-${n}`, events: ['*'] }),
    count: `select count(*)::int as n from webhook where url like '%/once-%'`,
  },
  {
    name: 'tickets.create',
    path: () => '/v1/tickets',
    body: (n) => ({ subject: `once-${n}`, body: 'It happened.' }),
    count: `select count(*)::int as n from ticket where subject like 'once-%'`,
  },
  {
    name: 'limits.requests.create',
    path: () => '/v1/limits/requests',
    body: (n) => ({ key_id: a.key_id, rpm: 100 + n }),
    count: `select count(*)::int as n from limit_request`,
  },
];

async function counted({ count }: Made): Promise<number> {
  const { rows } = await harness.pool.query<{ n: number }>({ name: '', text: count });
  return rows[0]?.n ?? -1;
}

test.each(made.map((one) => [one.name, one] as const))('%s happens once under a key', async (name, one) => {
  expect(operations.find((operation) => operation.name === name)?.idempotent).toBe(true);
  const { path, body, key = () => a.key } = one;
  const send = (idempotency_key: string, n: number) =>
    call('POST', path(), { key: key(), headers: { 'idempotency-key': idempotency_key }, body: body(n) });
  const before = await counted(one);
  const answers = await Promise.all(Array.from({ length: 6 }, () => send(`${name}-1`, 1)));
  // Who comes while the first is under way is told to wait, or gets its answer.
  for (const answer of answers) {
    if (answer.statusCode !== 201) expect(codeOf(answer), answer.body).toBe('idempotency_in_progress');
  }
  const first = answers.find(({ statusCode }) => statusCode === 201);
  expect(await counted(one)).toBe(before + 1);
  const again = await send(`${name}-1`, 1);
  expect([again.statusCode, again.body]).toEqual([201, first?.body]);
  expect(again.headers['x-svc-idempotent-replay']).toBe('true');
  const other = await send(`${name}-1`, 2);
  expect([other.statusCode, codeOf(other)]).toEqual([422, 'idempotency_conflict']);
  expect(await counted(one)).toBe(before + 1);
  expect((await send(`${name}-2`, 2)).statusCode).toBe(201);
  expect(await counted(one)).toBe(before + 2);
});

test('what is kept of a request and its answer holds no secret in clear', async () => {
  const hook = await call('POST', '/v1/webhooks', {
    ...{ key: a.key, headers: { 'idempotency-key': 'hook-secret' } },
    body: { url: 'https://93.184.215.14/kept', events: ['*'] },
  });
  const { secret } = hook.json();
  expect(secret).toMatch(/^whsec_/);
  const { rows } = await harness.pool.query<{ path: string; fingerprint: Buffer; body: Buffer }>({
    name: '',
    text: 'select path, fingerprint, body from idempotency where body is not null',
  });
  expect(rows.map(({ path }) => path)).toContain('/v1/webhooks');
  const kept = Buffer.concat(rows.flatMap(({ fingerprint, body }) => [fingerprint, body]));
  for (const planted of [SECRET, secret, 'once-1']) expect(kept.includes(planted)).toBe(false);
});
