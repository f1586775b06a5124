// Every event that an endpoint can subscribe to is made to happen, and arrives with the `data` that docs/webhooks.md lists.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadCatalog } from '@svc/core/catalog/index.ts';
import { notifyExpiring } from '@svc/core/credits/index.ts';
import { finishRun } from '@svc/core/evals/index.ts';
import { builtIn } from '@svc/core/inference/index.ts';
import { microUsd, newRequestId } from '@svc/core/kernel/index.ts';
import { notifyExpiringKeys } from '@svc/core/keys/index.ts';
import { credit } from '@svc/core/ledger/index.ts';
import { holdOf, journalDirectory, openTestLedger, settleOf } from '@svc/core/ledger/testing/testing.ts';
import { publishVersion, tellOfLegal } from '@svc/core/legal/index.ts';
import {
  actOnMandate,
  createMandate,
  lookAtBalances,
  type Mandate,
  pollMandate,
  setAutoTopup,
} from '@svc/core/mandates/index.ts';
import { tellOfModels } from '@svc/core/model-news/index.ts';
import { changeTerms } from '@svc/core/orgs/index.ts';
import { putOnPlan } from '@svc/core/plans/index.ts';
import { eraseBatch, requestErasure } from '@svc/core/privacy/index.ts';
import { requestRefund, sendRefund } from '@svc/core/refunds/index.ts';
import { judgeCanaries } from '@svc/core/rollouts/index.ts';
import { answerTicket } from '@svc/core/support/index.ts';
import type { eventTypes } from '@svc/core/webhooks/events.ts';
import { expect, test } from 'vitest';
import { makeEvalRows } from '../registry/eval-rows.ts';
import { startHarness } from '../registry/harness.ts';
import { canaryRow, rowOf } from '../registry/rows.ts';
import { atFileEnd } from '../support/ends.ts';
import { events as rail, startWorld as startMoneyIn } from '../topups/world.ts';
import { startReceiver } from './receiver.ts';
import { startWorld } from './world.ts';

const money = await startMoneyIn();
const world = await startWorld({ url: money.url });
const harness = await startHarness({ url: money.url });
const subscriber = await harness.makeTenant('subscriber');
const { org, live, key } = subscriber;
const tenant = await world.tenant('subscriber', org.id);
const receiver = await startReceiver();
const hook = await tenant.hook(receiver.url, ['*']);

const { dir, remove } = journalDirectory();
const ledger = await openTestLedger(money.url, dir);
atFileEnd(async () => {
  await ledger.close();
  remove();
});

async function send(method: 'POST' | 'PATCH' | 'DELETE', path: string, body?: object) {
  const reply = await harness.call(method, path, { key, body });
  expect(reply.statusCode, reply.body).toBeLessThan(300);
  return reply.json();
}

function newKey(budget?: object): Promise<{ id: string }> {
  return send('POST', '/v1/keys', { name: 'new', project_id: live.id, scopes: ['inference'], budget });
}

/** A call of the key `id`: its hold, and its settle where the hold is granted. */
async function call(id: string, micro_usd: number): Promise<void> {
  const [row] = await world.rows<{ key_no: number }>('select key_no from api_key where id = $1', [id]);
  const subject = { book_id: org.live_book_id, key_no: row?.key_no ?? 0, project_no: live.live_no };
  const request_id = newRequestId();
  const { status } = await ledger.hold(holdOf(subject, micro_usd, request_id));
  if (status === 'ok') await ledger.settle(settleOf(subject, request_id, micro_usd));
}

/** Asks for 25 dollars; `fate` is what the rail reports of it. */
async function topUp(fate: Parameters<typeof rail.completed>[1]): Promise<void> {
  await money.deliver(rail.completed(await money.topup(org), fate));
}

/** Pays 25 dollars at the rail, and asks for five of them back. */
async function refund(): Promise<void> {
  const topup = await money.topup(org);
  const { payment_intent } = money.sim.act(topup.gateway_ref as string, 'pay');
  await money.deliver(rail.completed(topup, { payment: payment_intent as string }));
  const { refund } = await requestRefund(money.context, {
    org_id: org.id,
    topup_id: topup.id,
    amount_minor: 500,
    reason: '',
    idempotency_key: null,
  });
  await sendRefund(money.context, { refund_id: refund.id });
}

/** A payment that its payer disputes, as the rail reports it. */
async function dispute(status: 'under_review' | 'won'): Promise<void> {
  const topup = await money.topup(org);
  const { payment_intent } = money.sim.act(topup.gateway_ref as string, 'pay');
  await money.deliver(rail.completed(topup, { payment: payment_intent as string }));
  const { id } = money.sim.store.disputing.open(payment_intent as string);
  money.sim.store.disputing.move(id, status);
  for (const event of money.sim.webhooks.events.filter(({ type }) => type.startsWith('charge.dispute.')))
    await money.deliver(event);
}

/** Allows debits of a card at the rail. */
async function registerCard(): Promise<Mandate> {
  const { mandate } = await createMandate(money.context, { org_id: org.id, method: 'card' });
  money.sim.store.mandates.save(mandate.setup_ref as string);
  await pollMandate(money.context, { mandate_id: mandate.id });
  return mandate;
}

/** A canary of which every call fails, while none fails elsewhere. */
async function canaryFails(): Promise<void> {
  const body = { model: 'openai/gpt-4o', yaml: 'sort: price' };
  const dry = await harness.call('POST', '/v1/policies/x/dry-run', { key: subscriber.test_key, body });
  const endpoint_id: string = dry.json().plan[0].endpoint_id;
  const yaml = `defaults: {canary: {endpoint: ${endpoint_id}, percent: 10}}`;
  await send('POST', '/v1/policies', { name: 'trial', yaml });
  await send('POST', '/v1/policies/trial/activate', { version: 1 });
  const call = { policy: 'trial', version: 1, endpoint_id };
  for (let i = 0; i < 100; i++) {
    const side =
      i < 10 ? ({ arm: 'canary', outcome: 'error' } as const) : ({ arm: 'control', outcome: 'ok' } as const);
    harness.request_log.write(canaryRow(subscriber, { ...call, ...side }));
  }
  await harness.request_log.flush();
  await judgeCanaries(harness.context);
}

/** The tenant calls a model, and the file of the model is loaded, as it was and as it is now. */
async function modelChanges(was: string, is: string): Promise<void> {
  harness.request_log.write(rowOf(subscriber, { model: 'acme/named-1' }));
  await harness.request_log.flush();
  const dir = mkdtempSync(join(tmpdir(), 'svc-causes-'));
  for (const model of [was, is]) {
    const path = join(dir, 'models.yaml');
    writeFileSync(
      path,
      `version: 1
providers:
  - { id: acme, name: Acme, kind: openai, base_url: "http://127.0.0.1:9001/v1/", api_key_env: NONE }
models:
  - id: acme/named-1
    name: Named
    context_length: 128000
    ${model}
`,
    );
    await loadCatalog(harness.pool, [path], { formats: builtIn.catalog });
  }
  rmSync(dir, { recursive: true });
  await tellOfModels(harness.pool);
}

const endpointAt = (input: string) =>
  `endpoints: [{ provider: acme, upstream_model: named-1, price: { input: "${input}", output: "10" } }]`;

/** In the order in which they are made to happen; the organization begins without credit. */
const causes: Readonly<Record<keyof typeof eventTypes, () => Promise<unknown>>> = {
  'test.ping': () => tenant.run('webhooks.test', { id: hook.id }),
  'topup.failed': () => topUp({ type: 'checkout.session.async_payment_failed', status: 'unpaid' }),
  'topup.completed': () => topUp({}),
  'invoice.issued': () => topUp({}),
  'key.created': () => newKey(),
  'key.rotated': async () => send('POST', `/v1/keys/${(await newKey()).id}/rotate`, { grace_seconds: 60 }),
  'key.revoked': async () => send('DELETE', `/v1/keys/${(await newKey()).id}`),
  'key.expiring': async () => {
    const { id } = await newKey();
    const ends = new Date(Date.now() + 2 * 86_400_000);
    await send('PATCH', `/v1/keys/${id}`, { expires_at: ends.toISOString() });
    // As if it had been made a month ago: what is made for two days gets no notice of seven.
    await world.rows(`update api_key set created_at = created_at - interval '30 days' where id = $1`, [id]);
    await notifyExpiringKeys(harness.context);
  },
  'limit.request.updated': async () =>
    send('POST', '/v1/limits/requests', { key_id: (await newKey()).id, rpm: 60, reason: 'a test' }),
  'ticket.updated': async () => {
    const { id } = await send('POST', '/v1/tickets', { subject: 'a question', body: 'How?' });
    await answerTicket(harness.context, { id, text: 'So.', resolve: false });
  },
  'policy.activated': async () => {
    await send('POST', '/v1/policies', { name: 'cheap', yaml: 'sort: price\n' });
    await send('POST', '/v1/policies/cheap/activate', { version: 1 });
  },
  'policy.canary': () => canaryFails(),
  'eval.run.completed': async () => {
    const { run } = await makeEvalRows(harness.context, subscriber);
    await finishRun(harness.context, { run_id: run, broken: false });
  },
  'member.added': () => harness.makePerson({ ...harness.a, org }, 'viewer'),
  'member.deprovisioned': async () => {
    const { id } = await harness.makePerson({ ...harness.a, org }, 'viewer');
    const { token } = await send('POST', '/v1/org/scim/token', {});
    const answer = await harness.call('DELETE', `/scim/v2/Users/${id}`, { key: token });
    expect(answer.statusCode, answer.body).toBe(204);
  },
  'member.removed': async () => {
    const owner = await harness.signIn(await harness.makePerson({ ...harness.a, org }, 'owner'));
    const { id } = await harness.makePerson({ ...harness.a, org }, 'viewer');
    await harness.call('DELETE', `/v1/orgs/${org.id}/members/${id}`, { key: owner });
  },
  'budget.threshold': async () => call((await newKey({ daily_micro: 1_000 })).id, 600),
  'budget.exhausted': async () => call((await newKey({ daily_micro: 1_000 })).id, 2_000),
  'credits.low': async () => call((await newKey()).id, 46_000_000),
  'credits.exhausted': async () => call((await newKey()).id, 46_000_000),
  'credits.expiring': async () => {
    await credit(harness.pool, {
      ...{ book_id: org.live_book_id, kind: 'grant', amount_micro_usd: microUsd(2_000_000), granted: true },
      expires_at: new Date(harness.context.now().getTime() + 5 * 86_400_000),
      ...{ ref_type: 'staff', ref_id: 'ends soon' },
    });
    await notifyExpiring(harness.context);
  },
  'mandate.updated': () => registerCard(),
  'auto_topup.blocked': async () => {
    const { id } = await registerCard();
    await setAutoTopup(money.context, {
      org_id: org.id,
      enabled: true,
      threshold_micro: 9_000_000_000_000,
      amount_minor: 2_500,
    });
    await actOnMandate(money.context, { org_id: org.id, id, act: 'pause' });
    await lookAtBalances(money.context);
  },
  'auto_topup.disabled': async () => {
    const { id } = await registerCard();
    await setAutoTopup(money.context, {
      org_id: org.id,
      enabled: true,
      threshold_micro: 1,
      amount_minor: 2_500,
    });
    await actOnMandate(money.context, { org_id: org.id, id, act: 'cancel' });
  },
  'refund.completed': () => refund(),
  'refund.failed': async () => {
    money.sim.turn({ api: [{ match: 'POST /v1/refunds', mode: 'error', status: 400 }] });
    await refund();
  },
  'dispute.opened': () => dispute('under_review'),
  'dispute.closed': () => dispute('won'),
  'plan.changed': () =>
    putOnPlan(harness.context, org.id, {
      plan_id: 'scale',
      applies: 'now',
      free_months: 0,
      reason: 'by agreement',
    }),
  'legal.update': async () => {
    await publishVersion(harness.context, {
      ...{ kind: 'aup', version: '2026-12-01', title: 'Acceptable use policy', text: '# Words' },
      ...{ summary: 'A test.', requires_acceptance: true },
    });
    await tellOfLegal(harness.context);
  },
  'model.price_changed': () => modelChanges(endpointAt('1'), endpointAt('2')),
  'model.deprecated': () => modelChanges(endpointAt('2'), `retires_at: 2099-01-01\n    ${endpointAt('2')}`),
  'privacy.request.completed': async () => {
    const { id } = await requestErasure(harness.context, { org_id: org.id, user_id: 'user-42' });
    await eraseBatch(harness.context, { dsr_id: id });
  },
  'org.closed': () => changeTerms(harness.context, org.id, { status: 'closed' }),
};

/** Names of the members of `data` that the documentation lists. */
function documented(event: string): string[] {
  const page = readFileSync(new URL('../../docs/webhooks.md', import.meta.url), 'utf8');
  const rows = page.split('\n').map((line) => line.split('|'));
  const row = rows.find(([, events, data]) => data !== undefined && events?.includes(`\`${event}\``));
  return [...(row?.[2] ?? '').matchAll(/`(\w+)`/g)].map(([, name]) => name as string);
}

test('the catalog lists what happens here and nothing else', async () => {
  const { data } = await tenant.run<{ data: { name: string }[] }>('webhooks.events');
  expect(data.map(({ name }) => name).sort()).toEqual(Object.keys(causes).sort());
});

test('what changes nothing is no event', async () => {
  const { id } = await newKey();
  await send('DELETE', `/v1/keys/${id}`);
  await send('POST', '/v1/policies', { name: 'steady', yaml: 'sort: latency\n' });
  await send('POST', '/v1/policies/steady/activate', { version: 1 });
  await world.drain();
  const before = receiver.received.length;
  await send('DELETE', `/v1/keys/${id}`);
  await send('POST', '/v1/policies/steady/activate', { version: 1 });
  await changeTerms(harness.context, org.id, { status: 'active' });
  await putOnPlan(harness.context, org.id, {
    plan_id: 'enterprise',
    applies: 'now',
    free_months: 0,
    reason: 'by agreement',
  });
  await world.drain();
  expect(receiver.received.slice(before)).toEqual([]);
});

test.for(Object.entries(causes))('%s comes with what the documentation lists', async ([event, cause]) => {
  const before = receiver.received.length;
  await cause();
  await world.drain();
  const come = receiver.verified(hook.secret).slice(before);
  const found = come.find(({ type }) => type === event);
  expect(found, `only ${come.map(({ type }) => type).join(', ')} came`).toBeDefined();
  expect(Object.keys(found?.data ?? {}).sort()).toEqual(documented(event).sort());
  const { data } = await tenant.run<{ data: { name: string; example: { type: string; data: object } }[] }>(
    'webhooks.events',
  );
  const { example } = data.find(({ name }) => name === event) ?? {};
  expect(example?.type).toBe(event);
  expect(Object.keys(example?.data ?? {}).sort()).toEqual(documented(event).sort());
});
