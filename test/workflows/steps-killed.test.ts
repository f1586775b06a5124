// The worker program killed (`kill -9`) inside the steps of disputes, registrations of documents, mandates, automatic top-ups
// and plans, and of top-ups and refunds over rail-a: many of them stand at a step of their own, one kill cuts them all, and
// the next worker brings each to its end, once.
import { readSupplier, setSupplier } from '@svc/core/invoices/index.ts';
import type { Context, Id } from '@svc/core/kernel/index.ts';
import {
  actOnMandate,
  createMandate,
  findMandate,
  lastAttempt,
  type Mandate,
  pollMandate,
  setAutoTopup,
} from '@svc/core/mandates/index.ts';
import { type Org, setBilling } from '@svc/core/orgs/index.ts';
import { findRefund, requestRefund } from '@svc/core/refunds/index.ts';
import { type Dispute, disputesOf, type Topup } from '@svc/core/topups/index.ts';
import { beforeAll, expect, test, vi } from 'vitest';
import { startPortalSim } from '../sim/e-invoices/portal.ts';
import { withClient } from '../support/books.ts';
import { atFileEnd } from '../support/ends.ts';
import { staffContext } from '../support/provision.ts';
import { startTemporal } from '../support/temporal.ts';
import { events, eventsA } from '../topups/world.ts';
import { openStops } from './stops.ts';
import { connect, startWorkflowWorld, until, type WorkerProcess } from './world.ts';

vi.setConfig({ testTimeout: 240_000 });
const world = await startWorkflowWorld();
const { sim, sim_a, context } = world;
const temporal = await startTemporal();
atFileEnd(() => temporal.stop());
const portal = await startPortalSim();
atFileEnd(() => portal.close());
const client = await connect(temporal);
const stops = await openStops(world.url);
let worker: WorkerProcess;
let serial = 0;
const name = () => `org-${++serial}`;
const start = () =>
  world.worker(temporal.address, { SVC_EINVOICE_DEMO_URL: portal.url, SVC_DATABASE_CONNECTIONS: '30' });

beforeAll(async () => {
  const { supplier } = await readSupplier(world.pool);
  const { legal_name, address, gstin } = supplier;
  await setSupplier(staffContext(world.pool) as Context, { legal_name, address, gstin, e_invoicing: true });
  worker = await start();
});

/** The next worker takes over in a world without stops. */
async function killAndRestart(): Promise<void> {
  await worker.kill();
  await stops.cut();
  sim.turn({ api: [] });
  sim_a.turn({ api: [] });
  worker = await start();
}

const count = async (from: string, values: unknown[]) =>
  (await world.rows<{ n: number }>(`select count(*)::int as n from ${from}`, values))[0]?.n;

async function ended(workflow_id: string): Promise<void> {
  const handle = client.workflow.getHandle(workflow_id);
  await until(
    `${workflow_id} ended`,
    async () => (await handle.describe()).status.name === 'COMPLETED',
    90_000,
  );
}

async function paid(): Promise<Topup> {
  const topup = await world.topup(await world.org(name()));
  await world.deliver(events.completed(topup, { payment: world.pay(topup) }));
  return world.read(topup.id);
}

async function paidA(org?: Org): Promise<Topup> {
  const topup = await world.topup(org ?? (await world.indian(name())));
  const { id: payment } = sim_a.act(topup.gateway_ref as string, 'upi');
  await world.deliverA(eventsA.captured(topup, { payment }));
  return world.read(topup.id);
}

/** A payment is disputed; its callback of the beginning comes, that of the end does not. */
async function disputed(more: { respond_seconds?: number; ended?: 'lost' }): Promise<Dispute> {
  const topup = await paid();
  const { id: ref } = sim.store.disputing.open(topup.payment_ref as string, more);
  const opened = sim.webhooks.events.findLast(({ type }) => type === 'charge.dispute.created') as object;
  await world.deliver(opened);
  const [dispute] = (await disputesOf(world.pool, topup.id)) as [Dispute];
  if (more.ended !== undefined) sim.store.disputing.move(ref, more.ended);
  return dispute;
}

/** Makes a time of a row as long ago as its step asks for. */
const age = (table: string, column: string, id: string, by = '2 days') =>
  world.rows(`update ${table} set ${column} = ${column} - $2::interval where id = $1`, [id, by]);

async function registered(fate: 'saved' | 'open'): Promise<{ org: Org; mandate: Mandate }> {
  const org = await world.org(name());
  const { mandate } = await createMandate(context, { org_id: org.id, method: 'card' });
  if (fate === 'saved') sim.store.mandates.save(mandate.setup_ref as string);
  return { org, mandate };
}

/** An organization without credit that is debited by itself as soon as a worker looks. */
async function debited(): Promise<Org> {
  const { org, mandate } = await registered('saved');
  await pollMandate(context, { mandate_id: mandate.id });
  const config = { enabled: true, threshold_micro: 10_000_000, amount_minor: 2_500 };
  await setAutoTopup(context, { org_id: org.id, ...config });
  return org;
}

async function expectDebitedOnce(org: Org): Promise<void> {
  const attempt = () => lastAttempt(world.pool, org.id);
  await until(`${org.id} debited`, async () => (await attempt())?.status === 'succeeded', 90_000);
  await ended(`auto-${org.id}-1`);
  const made = [...sim.store.intents.values()].filter(({ metadata }) => metadata['org_id'] === org.id);
  expect(made).toHaveLength(1);
  const receipts = `mail m join topup t on t.invoice_id = m.reference
                     where t.org_id = $1 and m.template = 'receipt'`;
  expect(await count(receipts, [org.id])).toBe(1);
}

/** A document of a buyer whose documents are registered. */
async function document(): Promise<string> {
  const org = await world.indian(name(), '27');
  const facts = { gstin: '27AAPFU0939F1ZV', tax_status: 'gst_registered' } as const;
  await setBilling(world.pool, { org_id: org.id, at: context.now(), ...facts });
  return (await paidA(org)).invoice_id as string;
}

async function expectRegisteredOnce(invoice_id: string): Promise<void> {
  await ended(`invoice-${invoice_id}`);
  const [row] = await world.rows<{ number: string; irn: string; irn_status: string }>(
    'select number, irn, irn_status from invoice where id = $1',
    [invoice_id],
  );
  expect(row?.irn_status).toBe('generated');
  expect(portal.documents.get(`INV ${row?.number}`)?.irn).toBe(row?.irn);
  expect(await count('invoice_file where invoice_id = $1 and registered', [invoice_id])).toBe(1);
  expect(await count(`mail where template = 'invoice' and reference like $1 || '%'`, [invoice_id])).toBe(1);
}

const readMandate = async ({ id }: Mandate) =>
  (await findMandate(world.pool, { id, org_id: null })) as Mandate;
const readRefund = async (id: Id<'refund'>) => findRefund(world.pool, { id, org_id: null });

async function refundA(): Promise<{ id: Id<'refund'>; topup: Topup }> {
  const topup = await paidA();
  const what = { org_id: topup.org_id, topup_id: topup.id, amount_minor: 10_000 };
  const { refund } = await requestRefund(context, { ...what, reason: '', idempotency_key: null });
  return { id: refund.id, topup };
}

async function expectRefundedOnce({ id, topup }: { id: Id<'refund'>; topup: Topup }): Promise<void> {
  await until(`${id} refunded`, async () => (await readRefund(id))?.status === 'refunded', 90_000);
  await ended(`refund-${id}`);
  const made = [...sim_a.store.refunds.values()].filter(({ payment_id }) => payment_id === topup.payment_ref);
  expect(made).toHaveLength(1);
  expect(await count('invoice where refund_id = $1', [id])).toBe(1);
  expect(await count('mail where reference = $1', [id])).toBe(1);
}

test('killed with a rail being asked, a reminder, a registration, a lapse, a notice, a debit and a refund not yet noted', async () => {
  await stops.set({
    'the reminder of a dispute': { table: 'staff_item', event: 'insert', when: `new.kind = 'dispute_due'` },
    'the registration of a document': {
      ...{ table: 'invoice', event: 'update' },
      when: `new.irn_status = 'generated' and old.irn_status = 'pending'`,
    },
    'a mandate that was registered': { table: 'mandate', event: 'update', when: `new.status = 'active'` },
    'a mandate that lapses': { table: 'mandate', event: 'update', when: `new.status = 'expired'` },
    'the notice of a debit': {
      ...{ table: 'auto_topup_attempt', event: 'update' },
      when: `new.status = 'waiting' and old.status = 'announcing'`,
    },
    'a payment over rail-a that a poll found': {
      ...{ table: 'topup', event: 'update' },
      when: `new.status = 'paid' and old.status = 'pending' and new.gateway = 'rail-a'
             and new.created_at < clock_timestamp() - interval '1 minute'`,
    },
    'a refund that rail-a has made': { table: 'refund', event: 'update', when: `new.status = 'refunded'` },
  });
  process.kill(worker.pid, 'SIGSTOP');
  const org = await debited();
  const asked = await disputed({ ended: 'lost' });
  const question = `GET /v1/disputes/${asked.gateway_ref}`;
  sim.turn({ api: [{ match: question, mode: 'delay', delay_ms: 200_000 }] });
  await age('dispute', 'opened_at', asked.id);
  const due = await disputed({ respond_seconds: 86_400 });
  const invoice_id = await document();
  const { mandate: saved } = await registered('saved');
  const { mandate: open } = await registered('open');
  await age('mandate', 'created_at', open.id);
  await age('mandate', 'expires_at', open.id);
  const polled = await world.topup(await world.indian(name()));
  sim_a.act(polled.gateway_ref as string, 'upi');
  await age('topup', 'created_at', polled.id, '3 minutes');
  const refund = await refundA();
  // The rail is asked about it when it is two minutes old.
  await age('mandate', 'created_at', saved.id, '100 seconds');
  process.kill(worker.pid, 'SIGCONT');
  await stops.reached();
  await until('the rail is asked', () => sim.calls.includes(question), 90_000);
  await killAndRestart();

  await ended(`dispute-${asked.id}`);
  expect((await disputesOf(world.pool, asked.topup_id))[0]).toMatchObject({
    status: 'lost',
    written_off_micro: 0,
  });
  await until(
    'people are reminded',
    async () => (await count(`staff_item where kind = 'dispute_due' and subject = $1`, [due.id])) === 1,
    90_000,
  );
  await expectRegisteredOnce(invoice_id);
  await until('registered', async () => (await readMandate(saved)).status === 'active', 90_000);
  await ended(`mandate-${open.id}`);
  expect(await readMandate(open)).toMatchObject({ status: 'expired' });
  expect(sim.store.mandates.sessions.get(open.setup_ref as string)?.status).toBe('expired');
  await expectDebitedOnce(org);
  await ended(`topup-${polled.id}`);
  expect((await world.read(polled.id)).status).toBe('paid');
  await expectRefundedOnce(refund);
  await world.expectRight();
});

test('killed with a dispute without end and a registration that is given up not yet put before a person', async () => {
  await stops.set({
    'a dispute without an end': { table: 'staff_item', event: 'insert', when: `new.kind = 'dispute_silent'` },
    'a registration that is given up': {
      ...{ table: 'invoice', event: 'update' },
      when: `new.irn_status = 'failed' and old.irn_status = 'pending'`,
    },
  });
  process.kill(worker.pid, 'SIGSTOP');
  portal.turn({ down: 100 });
  const silent = await disputed({});
  await age('dispute', 'opened_at', silent.id, '121 days');
  const late = await document();
  // No program may change what a document says.
  await withClient(world.url, (client) =>
    client.query(`update invoice set issued_at = issued_at - interval '31 days' where id = $1`, [late]),
  );
  process.kill(worker.pid, 'SIGCONT');
  await stops.reached();
  await killAndRestart();

  await ended(`dispute-${silent.id}`);
  expect(await count(`staff_item where kind = 'dispute_silent' and subject = $1`, [silent.id])).toBe(1);
  expect((await disputesOf(world.pool, silent.topup_id))[0]).toMatchObject({ status: 'open' });
  await ended(`invoice-${late}`);
  expect(await count(`invoice where id = $1 and irn_status = 'failed' and irn is null`, [late])).toBe(1);
  expect(await count(`staff_item where details ->> 'invoice_id' = $1`, [late])).toBe(1);
  // The sale stands: the document goes out without a registration, once.
  expect(await count(`mail where template = 'invoice' and reference like $1 || '%'`, [late])).toBe(1);
  portal.turn({ down: 0 });
  await world.expectRight();
});

test('killed with a loss, a file, a release, a booked debit and a plan without credit not yet noted', async () => {
  const { mandate } = await registered('saved');
  await pollMandate(context, { mandate_id: mandate.id });
  await stops.set({
    'what a dispute cost': {
      ...{ table: 'dispute', event: 'update' },
      when: `new.written_off_micro is not null and old.written_off_micro is null`,
    },
    'the file of a registered document': { table: 'invoice_file', event: 'insert', when: 'new.registered' },
    'a mandate that the rail has forgotten': {
      ...{ table: 'mandate', event: 'update' },
      when: `new.released_at is not null and old.released_at is null`,
    },
    'a debit that was made': {
      ...{ table: 'topup', event: 'update' },
      when: `new.status = 'paid' and old.status = 'pending' and new.source = 'auto'`,
    },
    'a fee that the credit does not cover': {
      ...{ table: 'plan_charge', event: 'update' },
      when: `new.status = 'grace' and old.status = 'pending'`,
    },
  });
  process.kill(worker.pid, 'SIGSTOP');
  const lost = await disputed({ ended: 'lost' });
  await age('dispute', 'opened_at', lost.id);
  const invoice_id = await document();
  await actOnMandate(context, { org_id: mandate.org_id, id: mandate.id, act: 'cancel' });
  const org = await debited();
  const { id: member } = await world.org(name());
  await world.rows(
    `update org set plan_id = 'team', plan_since = created_at - interval '1 year' where id = $1`,
    [member],
  );
  process.kill(worker.pid, 'SIGCONT');
  await stops.reached();
  await killAndRestart();

  await ended(`dispute-${lost.id}`);
  expect((await disputesOf(world.pool, lost.topup_id))[0]).toMatchObject({ written_off_micro: 0 });
  expect(await count(`mail where template = 'dispute_closed' and reference = $1`, [lost.id])).toBe(1);
  await expectRegisteredOnce(invoice_id);
  await ended(`mandate-${mandate.id}`);
  const { token_ref, released_at } = await readMandate(mandate);
  expect(released_at).not.toBeNull();
  expect(sim.store.mandates.payment_methods.get(token_ref as string)?.customer).toBeNull();
  await expectDebitedOnce(org);
  const grace = `plan_charge where org_id = $1 and status = 'grace' and mails = 1`;
  await until('grace', async () => (await count(grace, [member])) === 1, 90_000);
  expect(await count(`mail where template = 'plan_grace' and org_id = $1`, [member])).toBe(1);
  await world.expectRight();
  expect(await worker.stop()).toBe(0);
});
