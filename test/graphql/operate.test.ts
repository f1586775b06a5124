// How the service runs, as staff read it: workflows, what waits to be sent, exchange rates and prices. Read by who may, written
// down in the audit log, and without anything that a workflow, an event or a mail is about.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadCatalog } from '@svc/core/catalog/index.ts';
import { verifyAudit } from '@svc/core/identity/index.ts';
import { builtIn } from '@svc/core/inference/index.ts';
import { now } from '@svc/core/kernel/index.ts';
import { writeEvent } from '@svc/core/ledger/index.ts';
import { sendMail } from '@svc/core/mail/index.ts';
import { claimLook, noteStepFailure, replaceOpen, startWorkflow } from '@svc/core/workflow-starts/index.ts';
import { beforeAll, expect, test } from 'vitest';
import { atFileEnd } from '../support/ends.ts';
import { startWorld } from './world.ts';

const world = await startWorld();
const { harness, staff } = world;
const { a, pool } = harness;
let finance = '';
let catalog = '';
let compliance = '';
beforeAll(async () => {
  finance = await world.signInStaff(['finance']);
  catalog = await world.signInStaff(['catalog']);
  compliance = await world.signInStaff(['compliance']);
});

const workflows = `query($type: String) { workflows(type: $type) { lookedAt complete
  kinds { type waiting open failing oldestAt } workflows { id type state since step attempt failure failedAt } } }`;
const outbox = `{ outbox { queues { queue waiting oldestAt }
  waiting { queue id orgId what attempts answer createdAt nextAt } } }`;
const prices = `query($model: String, $first: Int, $after: String) { priceVersions(model: $model, first: $first, after: $after) {
  nodes { id model endpointId provider use rates { kind usdPerMillion } bands effectiveFrom effectiveUntil }
  pageInfo { hasNextPage endCursor } } }`;
const rates = '{ fxRates { source day stale error days { day state rates { currency rate } } } }';

async function asked(query: string, variables: object = {}) {
  const { data, errors } = await world.ask(staff, finance, query, variables);
  expect(errors).toEqual([]);
  return data;
}

test('before a worker has looked nothing is known; then what fails comes first, and kinds are counted', async () => {
  expect((await asked(workflows)).workflows).toMatchObject({ lookedAt: null, workflows: [] });
  const at = now();
  const ago = (minutes: number) => new Date(at.getTime() - minutes * 60_000);
  await startWorkflow(pool, {
    ...{ workflow_id: 'erasure-dsr_1', type: 'erasure', args: { secret_of: 'nobody-sees-this' }, at: ago(1) },
  });
  expect(await claimLook(pool, { at, before: ago(1) })).toBe(true);
  // Of workers who come at the same time one looks.
  expect(await claimLook(pool, { at, before: ago(1) })).toBe(false);
  const open = (workflow_id: string, type: string, started_at: Date) => ({ workflow_id, type, started_at });
  await replaceOpen(pool, {
    workflows: [open('topup-1', 'topUp', ago(90)), open('topup-2', 'topUp', ago(5))],
    ...{ complete: true, at },
  });
  await noteStepFailure(pool, {
    ...{ workflow_id: 'topup-2', step: 'pollTopup', attempt: 7, failure: 'RailUnavailable: 503', at },
  });
  const all = (await asked(workflows)).workflows;
  expect(all.lookedAt).toBe(at.toISOString());
  expect(all.kinds).toMatchObject([
    { type: 'erasure', waiting: 1, open: 0, failing: 0 },
    { type: 'topUp', waiting: 0, open: 1, failing: 1, oldestAt: ago(90).toISOString() },
  ]);
  expect(all.workflows.map(({ id, state }: { id: string; state: string }) => [id, state])).toEqual([
    ['topup-2', 'FAILING'],
    ['topup-1', 'OPEN'],
    ['erasure-dsr_1', 'WAITING'],
  ]);
  expect(all.workflows[0]).toMatchObject({
    step: 'pollTopup',
    attempt: 7,
    failure: 'RailUnavailable: 503',
  });
  expect(JSON.stringify(all)).not.toContain('nobody-sees-this');
  const one = (await asked(workflows, { type: 'erasure' })).workflows;
  expect(one.workflows.map(({ id }: { id: string }) => id)).toEqual(['erasure-dsr_1']);
  // A look that saw neither takes both out, and the failure with them once it is too old to be of one just begun.
  await replaceOpen(pool, { workflows: [], complete: true, at: new Date(at.getTime() + 130_000) });
  expect((await asked(workflows)).workflows.workflows).toHaveLength(1);
  expect((await pool.query({ name: '', text: 'select from workflow_failure' })).rows).toEqual([]);
});

test('what waits to be sent is counted by queue and listed with age and tries, never with what it says', async () => {
  const at = now();
  await pool.transaction((db) =>
    writeEvent(db, { org_id: a.org.id, topic: 'topup.completed', payload: { planted: 'planted' }, at }),
  );
  const data = { org: 'planted', slug: 'acme', available: '$1.00', threshold: '$5.00' };
  await sendMail(harness.context, {
    ...{ template: 'low_balance', to: ['planted@acme.example'], org_id: a.org.id, reference: 'evt_1', data },
  });
  await pool.query({
    name: '',
    text: `insert into rail_task (rail, kind, ref, created_at, attempts, last_error, next_at)
           values ('rail-b', 'close_order', 'cs_1', $1, 3, 'the rail is away', $1)`,
    values: [at],
  });
  const { queues, waiting } = (await asked(outbox)).outbox;
  const counted = Object.fromEntries(
    queues.map(({ queue, waiting }: { queue: string; waiting: number }) => [queue, waiting]),
  );
  expect(counted).toMatchObject({ DELIVERIES: 0, MAILS: 1, RAILS: 1, STARTS: 1, SIGNALS: 0 });
  expect(counted['EVENTS']).toBeGreaterThanOrEqual(1);
  expect(waiting).toContainEqual(
    expect.objectContaining({ queue: 'EVENTS', orgId: a.org.id, what: 'topup.completed', attempts: 0 }),
  );
  expect(waiting).toContainEqual(
    expect.objectContaining({ queue: 'MAILS', what: 'low_balance', attempts: 0, answer: '' }),
  );
  expect(waiting).toContainEqual(
    expect.objectContaining({
      ...{ queue: 'RAILS', what: 'rail-b close_order', attempts: 3, answer: 'the rail is away', orgId: null },
    }),
  );
  expect(JSON.stringify(waiting)).not.toContain('planted');
});

test('a price that changes is listed with the one before, which then has an end; pages walk all of them once', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'svc-prices-'));
  atFileEnd(async () => rmSync(dir, { recursive: true, force: true }));
  const path = join(dir, 'models.yaml');
  for (const input of ['1.5', '2']) {
    writeFileSync(
      path,
      `version: 1
providers:
  - { id: acme, name: Acme, kind: openai, base_url: "http://127.0.0.1:9001/v1/", api_key_env: NONE }
models:
  - id: acme/priced-1
    name: Priced
    context_length: 128000
    endpoints: [{ provider: acme, upstream_model: priced-1, price: { input: "${input}", output: "10" } }]
`,
    );
    await loadCatalog(pool, [path], { formats: builtIn.catalog });
  }
  const { nodes } = (await asked(prices, { model: 'priced-1' })).priceVersions;
  const standard = nodes.filter(({ use }: { use: string }) => use === 'standard');
  expect(standard).toMatchObject([
    { model: 'acme/priced-1', provider: 'acme', effectiveUntil: null },
    { model: 'acme/priced-1', effectiveUntil: standard[0].effectiveFrom },
  ]);
  expect(standard.map((price: { rates: object[] }) => price.rates)).toEqual([
    expect.arrayContaining([{ kind: 'input', usdPerMillion: 2 }]),
    expect.arrayContaining([{ kind: 'input', usdPerMillion: 1.5 }]),
  ]);
  const seen: string[] = [];
  let after: string | null = null;
  for (let more = true; more; ) {
    const { priceVersions }: Awaited<ReturnType<typeof asked>> = await asked(prices, {
      model: 'gpt-4o',
      first: 3,
      after,
    });
    seen.push(...priceVersions.nodes.map(({ id, use }: { id: string; use: string }) => `${id} ${use}`));
    more = priceVersions.pageInfo.hasNextPage;
    after = priceVersions.pageInfo.endCursor;
  }
  expect(seen.length).toBeGreaterThan(3);
  expect(new Set(seen).size).toBe(seen.length);
  expect((await asked(prices, { model: '%' })).priceVersions.nodes).toEqual([]);
});

test('the rates of the release are a day of their own, that was never fetched', async () => {
  const { fxRates } = await asked(rates);
  expect(fxRates).toMatchObject({ source: 'STATIC', stale: false, error: null });
  expect(fxRates.days).toHaveLength(1);
  expect(fxRates.days[0]).toMatchObject({ day: fxRates.day, state: 'IN_FORCE' });
  expect(fxRates.days[0].rates).toContainEqual({ currency: 'INR', rate: '88.70000000' });
});

test('each look is written down, and who has another role sees nothing', async () => {
  const { rows } = await pool.query<{ action: string }>({
    name: '',
    text: `select distinct action from audit_entry where org_id = '' and actor_type = 'staff' order by action`,
  });
  expect(rows.map(({ action }) => action)).toEqual(
    expect.arrayContaining([
      ...['staff.fx.get', 'staff.outbox.get', 'staff.prices.list', 'staff.workflows.list'],
    ]),
  );
  expect((await verifyAudit(pool)).faults).toEqual([]);
  const refused = async (token: string, query: string) => {
    const { data, errors } = await world.ask(staff, token, query);
    return [Object.values(data as object)[0] === null, errors[0]?.extensions['code']];
  };
  for (const query of [workflows, outbox, prices, rates])
    expect(await refused(compliance, query)).toEqual([true, 'permission_denied']);
  for (const query of [workflows, outbox])
    expect(await refused(catalog, query)).toEqual([true, 'permission_denied']);
  for (const query of [prices, rates]) expect(await refused(catalog, query)).toEqual([false, undefined]);
});

test('no surface met a defect', () => {
  expect(world.defects).toEqual([]);
});
