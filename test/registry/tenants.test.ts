// Another organization's object is a missing one: same status, same body, same headers.
import { newRequestId } from '@svc/core/kernel/index.ts';
import { operations } from '@svc/core/operations/index.ts';
import { changeTerms } from '@svc/core/orgs/index.ts';
import { requestErasure } from '@svc/core/privacy/index.ts';
import type { LightMyRequestResponse } from 'fastify';
import { expect, test } from 'vitest';
import { makeEvalRows } from './eval-rows.ts';
import { makeGiftRow } from './gift-rows.ts';
import { codeOf, type Method, startHarness } from './harness.ts';
import { makeResellerRows } from './reseller-rows.ts';
import { rowOf } from './rows.ts';
import { makeMandate, makeTopup } from './topup-rows.ts';
import { makeWebhook } from './webhook-rows.ts';

const harness = await startHarness();
const { a, b } = harness;
const live_row = rowOf(b);
const test_row = rowOf(b, { environment: 'test' });
const own_live_row = rowOf(a);
for (const row of [live_row, test_row, own_live_row]) harness.request_log.write(row);
await harness.request_log.flush();
const their_money = await makeTopup(harness.context, b);
const their_mandate = await makeMandate(harness.context, b);
const their_webhook = await makeWebhook(harness, b);
const their_gift = await makeGiftRow(harness.context, b);
const their_eval = await makeEvalRows(harness.context, b);

const { key: their_byok } = (
  await harness.call('POST', '/v1/byok', {
    key: b.key,
    body: { provider_id: 'openai', secret: 'sk-theirs-0123456789' },
  })
).json() as { key: { id: string } };
const their_provider_key = their_byok.id;

// Both are resellers, so that what is for resellers is asked for too.
for (const { org } of [a, b]) await changeTerms(harness.context, org.id, { kind: 'reseller' });
const their_rows = await makeResellerRows(harness, b);

const owner = await harness.signIn(await harness.makePerson(a, 'owner'));
const them = await harness.makePerson(b, 'owner');
const their_session = await harness.signIn(them);
const { id: their_invitation } = (
  await harness.call('POST', `/v1/orgs/${b.org.id}/invitations`, {
    ...{ key: their_session, body: { email: 'guest@borealis.example', role: 'viewer' } },
  })
).json() as { id: string };
const { id: their_session_id } = (
  await harness.call('GET', '/v1/auth/session', { key: their_session })
).json().session;

const { id: their_ticket } = (
  await harness.call('POST', '/v1/tickets', { key: b.key, body: { subject: 'theirs', body: 'ours alone' } })
).json() as { id: string };
const their_scim_token = (await harness.call('POST', '/v1/org/scim/token', { key: b.key, body: {} })).json()
  .id as string;

const { id: their_erasure } = await requestErasure(harness.context, {
  ...{ org_id: b.org.id, user_id: 'their user' },
});

const { id: their_export } = (
  await harness.call('POST', `/v1/orgs/${b.org.id}/export`, { key: their_session })
).json() as { id: string };

const { id: their_view } = (
  await harness.call('POST', '/v1/usage/views', {
    ...{ key: their_session, body: { name: 'theirs', query: 'range=7d', shared: true } },
  })
).json() as { id: string };

/** Ids of borealis by what a path parameter names; each is a real object of theirs. */
const theirs: Record<string, readonly string[]> = {
  '/v1/keys': [b.key_id],
  '/v1/requests': [live_row.request_id, test_row.request_id],
  '/v1/generation': [live_row.request_id, test_row.request_id],
  '/v1/credits/topups': [their_money.topup_id],
  '/v1/credits/gifts': [their_gift],
  '/v1/credits/refunds': [their_money.refund_id],
  '/v1/credits/mandates': [their_mandate],
  '/v1/evals/suites': [their_eval.suite],
  '/v1/evals/runs': [their_eval.run],
  '/v1/invoices': [their_money.invoice_id],
  '/v1/usage/views': [their_view],
  '/v1/webhooks': [their_webhook.webhook_id],
  '/v1/tickets': [their_ticket],
  '/v1/byok': [their_provider_key],
  '/v1/orgs': [b.org.id],
  '/v1/projects': [b.live.id, b.test.id],
  '/v1/auth/sessions': [their_session_id],
  '/v1/org/scim/token': [their_scim_token],
  '/v1/privacy/requests': [their_erasure],
  '/v1/reseller/tiers': [their_rows.tier],
  '/v1/reseller/children': [their_rows.child],
  '/v1/reseller/announcements': [their_rows.announcement],
  '/v1/reseller/invites': [their_rows.invite],
  '/v1/reseller/tickets': [their_rows.ticket],
  '/v1/reseller/invoices': [their_rows.invoice],
};
/** What stands in a path behind the first id: real objects of borealis too. */
const further: Record<string, string> = {
  ':session_id': their_session_id,
  ':user_id': them.id,
  ':invitation': their_invitation,
  ':export': their_export,
  ':allocation': their_rows.allocation,
  ':delivery': String(their_webhook.delivery_id),
};
const filled = (path: string) => path.replaceAll(/:[a-z_]+/g, (name) => further[name] ?? name);
const wrong_shapes = [
  'x',
  '0',
  'key_',
  '..%2f..%2fkeys',
  "1'--",
  `KEY_${b.key_id.slice(4)}`,
  'é',
  '%00',
  'a'.repeat(300),
];

/** Everything in which two answers can differ for a caller, except the request id. */
function seen(response: LightMyRequestResponse) {
  const { date: _, 'content-length': __, ...headers } = response.headers as Record<string, string>;
  const id = headers['x-svc-request-id'] as string;
  for (const name of ['x-svc-request-id', 'x-request-id', 'request-id']) delete headers[name];
  return { status: response.statusCode, headers, body: response.body.replaceAll(id, '') };
}

const addressed = operations.filter((operation) => operation.path.includes(':id'));

const WHOLE = [
  'tickets.reply',
  'orgs.close',
  'evals.suites.cases.add',
  'reseller.allocations.create',
  'reseller.tickets.reply',
];
/** A body that is complete where one without its members would be refused before its target is looked for. */
function wholeBody({ name, request }: (typeof operations)[number]): object {
  return WHOLE.includes(name) ? (request ?? {}) : {};
}

test('every operation with an id in its path is covered by an object of the other organization', () => {
  expect(addressed.length).toBeGreaterThan(5);
  for (const operation of addressed) {
    expect(theirs[operation.path.slice(0, operation.path.indexOf('/:'))]).toBeDefined();
  }
});

test.each(addressed.map((operation) => [operation.name, operation] as const))(
  '%s answers for another organization as for nobody',
  async (_name, operation) => {
    const base = operation.path.slice(0, operation.path.indexOf('/:'));
    const address = (id: string) => filled(operation.path).replace(':id', id);
    // What a PUT replaces must be whole to be looked at.
    const bodies: Partial<Record<string, object>> = {
      ...{ POST: wholeBody(operation), PATCH: {}, PUT: operation.request ?? {} },
    };
    const body = bodies[operation.method];
    const kind =
      { '/v1/keys': 'key_', '/v1/webhooks': 'wh_', '/v1/byok': 'byok_', '/v1/tickets': 'tkt_' }[base] ?? '';
    const missing_id = `${kind}${newRequestId()}`;
    const { audience } = operation;
    // Whoever of this organization may do it at home: a key, a person, or each of them.
    const callers = [
      ...(audience.kind === 'key' ? [a.key] : []),
      ...(audience.kind === 'session' || (audience.kind === 'key' && audience.session !== undefined)
        ? [owner]
        : []),
    ];
    for (const key of callers) {
      const missing = await harness.call(operation.method as Method, address(missing_id), { key, body });
      expect([missing.statusCode, codeOf(missing)]).toEqual([404, 'not_found']);
      for (const id of [...(theirs[base] ?? []), ...wrong_shapes]) {
        const response = await harness.call(operation.method as Method, address(id), { key, body });
        expect([id, seen(response)]).toEqual([id, seen(missing)]);
      }
    }
  },
);

const twice = addressed.filter(
  ({ path }) => path.startsWith('/v1/orgs/:id/') && path.slice('/v1/orgs/:id'.length).includes(':'),
);
test.each(twice.map((operation) => [operation.name, operation] as const))(
  '%s finds nothing of another organization inside its own',
  async (_name, operation) => {
    const within = (path: string) => path.replace(':id', a.org.id);
    const bodies: Partial<Record<string, object>> = { POST: {}, PATCH: operation.request ?? {} };
    const body = bodies[operation.method];
    const ask = (path: string) =>
      harness.call(operation.method as Method, within(path), { key: owner, ...(body && { body }) });
    const missing = await ask(operation.path.replaceAll(/:(?!id\b)[a-z_]+/g, newRequestId()));
    expect([missing.statusCode, codeOf(missing)]).toEqual([404, 'not_found']);
    expect(filled(operation.path)).not.toMatch(/:(?!id\b)[a-z_]+/);
    expect(seen(await ask(filled(operation.path)))).toEqual(seen(missing));
  },
);

test('a test key finds neither live keys nor live rows of its own organization', async () => {
  for (const path of [`/v1/keys/${a.key_id}`, `/v1/requests/${own_live_row.request_id}`]) {
    expect((await harness.call('GET', path, { key: a.test_key })).statusCode).toBe(404);
    expect((await harness.call('GET', path, { key: a.key })).statusCode).toBe(200);
  }
  for (const method of ['PATCH', 'DELETE'] as const) {
    const response = await harness.call(method, `/v1/keys/${a.key_id}`, {
      key: a.test_key,
      ...(method === 'PATCH' ? { body: { name: 'taken' } } : {}),
    });
    expect(response.statusCode).toBe(404);
  }
  const listed = await harness.call('GET', '/v1/keys?environment=live', { key: a.test_key });
  expect(listed.json().data).toEqual([]);
  const rows = await harness.call('GET', '/v1/requests?environment=live', { key: a.test_key });
  expect(rows.json().data).toEqual([]);
});

test('lists show rows of the caller alone, whatever ids its filters name', async () => {
  const lists = [
    '/v1/keys',
    '/v1/requests',
    '/v1/credits/ledger',
    '/v1/credits/topups',
    '/v1/invoices',
    `/v1/keys?project_id=${b.live.id}`,
    `/v1/requests?key_id=${b.key_id}`,
    `/v1/requests?project_id=${b.live.id}`,
    `/v1/requests?q=${live_row.request_id}`,
  ];
  for (const path of lists) {
    const { body } = await harness.call('GET', path, { key: a.key });
    for (const id of [b.org.id, b.live.id, b.key_id, live_row.request_id, their_money.topup_id])
      expect(body.includes(id)).toBe(false);
  }
});

test('a session of one organization sees nothing of another in any list', async () => {
  const lists = [
    '/v1/keys',
    '/v1/requests',
    '/v1/credits/ledger',
    '/v1/orgs',
    '/v1/projects',
    '/v1/auth/sessions',
  ];
  for (const path of [...lists, `/v1/orgs/${a.org.id}/members`, `/v1/orgs/${a.org.id}/sessions`]) {
    const response = await harness.call('GET', path, { key: owner });
    expect([path, response.statusCode]).toEqual([path, 200]);
    for (const id of [b.org.id, b.org.slug, b.live.id, b.key_id, live_row.request_id, their_session_id]) {
      expect([path, id, response.body.includes(id)]).toEqual([path, id, false]);
    }
  }
});

test('a project of another organization cannot hold a new key', async () => {
  const options = { name: 'mine', scopes: ['inference'] };
  const foreign = await harness.call('POST', '/v1/keys', {
    key: a.key,
    body: { ...options, project_id: b.live.id },
  });
  const nobody = await harness.call('POST', '/v1/keys', {
    key: a.key,
    body: { ...options, project_id: 'prj_x' },
  });
  expect(seen(foreign)).toEqual(seen(nobody));
  expect(foreign.statusCode).toBe(404);
});

test('no caller of the walk met a defect', () => {
  expect(harness.defects).toEqual([]);
});
