// A database, a simulated rail and an organization that pays in dollars, for tests of money in.
import { createPool, type Pool } from '@svc/core/db/index.ts';
import {
  type Context,
  type Id,
  newRequestId,
  readConfig,
  type Services,
  silentLog,
} from '@svc/core/kernel/index.ts';
import { verifyLedger } from '@svc/core/ledger/index.ts';
import { createContext } from '@svc/core/operations/index.ts';
import { createOrg, findOrg, type Org, setBilling } from '@svc/core/orgs/index.ts';
import { takeRailCallback } from '@svc/core/refunds/index.ts';
import { createTopup, findTopup, openFx, openRails, type Rail, type Topup } from '@svc/core/topups/index.ts';
import { expect } from 'vitest';
import { type RailASim, type RailSim, startRailASim, startRailSim } from '../sim/rails/index.ts';
import { createTestDatabase } from '../support/database.ts';
import { atFileEnd } from '../support/ends.ts';

export const SECRET = 'whsec_of_tests';
export const SECRET_A = 'rail-a-of-tests';

export interface World {
  readonly url: string;
  readonly pool: Pool;
  readonly sim: RailSim;
  readonly rail: Rail;
  readonly sim_a: RailASim;
  readonly rail_a: Rail;
  readonly context: Context;
  org(slug: string): Promise<Org>;
  /** An organization in India that pays over rail-a; in Karnataka, where the supplier is, unless another state is named. */
  indian(slug: string, state_code?: string): Promise<Org>;
  /** A pending top-up of 25 dollars, or of 1,000 rupees without tax. */
  topup(org: Org, amount_minor?: number): Promise<Topup>;
  read(id: Id<'topup'>): Promise<Topup>;
  /** Sends `event` signed as the rail would; `at` seconds from now. */
  deliver(event: object, at?: number): ReturnType<typeof takeRailCallback>;
  /** Sends an event of rail-a, signed, with its id in the header. */
  deliverA(event: RailAEvent): ReturnType<typeof takeRailCallback>;
  rows<T>(text: string, values?: unknown[]): Promise<T[]>;
  /** The ledger is right, and every credit of a top-up has its top-up, lot and document, once each. */
  expectRight(): Promise<void>;
}

/** Events as the rail words them. */
export const events = {
  completed: (
    topup: Topup,
    more: {
      id?: string;
      payment?: string;
      amount?: number;
      currency?: string;
      type?: string;
      status?: string;
    } = {},
  ) => ({
    id: more.id ?? `evt_${newRequestId()}`,
    object: 'event',
    livemode: false,
    type: more.type ?? 'checkout.session.completed',
    data: {
      object: {
        id: topup.gateway_ref,
        object: 'checkout.session',
        mode: 'payment',
        client_reference_id: topup.id,
        metadata: { topup_id: topup.id },
        payment_intent: more.payment ?? `pi_${topup.id}`,
        payment_status: more.status ?? 'paid',
        amount_total: more.amount ?? topup.total_minor,
        currency: more.currency ?? topup.currency.toLowerCase(),
        payment_method_types: ['card'],
      },
    },
  }),
  succeeded: (topup: Topup, more: { payment?: string } = {}) => ({
    id: `evt_${newRequestId()}`,
    livemode: false,
    type: 'payment_intent.succeeded',
    data: {
      object: {
        id: more.payment ?? `pi_${topup.id}`,
        amount_received: topup.total_minor,
        currency: topup.currency.toLowerCase(),
        metadata: { topup_id: topup.id },
        payment_method_types: ['card'],
      },
    },
  }),
  attemptFailed: (topup: Topup) => ({
    id: `evt_${newRequestId()}`,
    livemode: false,
    type: 'payment_intent.payment_failed',
    data: {
      object: {
        id: `pi_lost_${topup.id}`,
        metadata: { topup_id: topup.id },
        last_payment_error: {
          code: 'card_declined',
          decline_code: 'insufficient_funds',
          message: 'No money.',
        },
      },
    },
  }),
};

/** An event of rail-a and the id that its header has. */
export interface RailAEvent {
  readonly id: string;
  readonly body: Readonly<Record<string, unknown>>;
}

interface PaymentA {
  readonly id?: string;
  readonly payment?: string;
  readonly amount?: number;
  readonly currency?: string;
  readonly notes?: object;
}

function paymentA(topup: Topup, status: string, more: PaymentA): object {
  return {
    id: more.payment ?? `pay_${topup.id}`,
    entity: 'payment',
    amount: more.amount ?? topup.total_minor,
    currency: more.currency ?? topup.currency,
    status,
    captured: status === 'captured',
    order_id: topup.gateway_ref,
    method: 'upi',
    // A list when the payer's page gave none, as the rail has it.
    notes: more.notes ?? [],
    error_code: status === 'failed' ? 'BAD_REQUEST_ERROR' : null,
    error_reason: status === 'failed' ? 'payment_cancelled' : null,
    error_description: status === 'failed' ? 'The payment was cancelled.' : null,
  };
}

function eventA(type: string, more: PaymentA, entities: Readonly<Record<string, object>>): RailAEvent {
  const payload = Object.fromEntries(Object.entries(entities).map(([name, entity]) => [name, { entity }]));
  const contains = Object.keys(entities);
  const about = { account_id: 'acc_1', event: type, contains, payload, created_at: 1_763_719_200 };
  return { id: more.id ?? `evt_${newRequestId()}`, body: { entity: 'event', ...about } };
}

/** Events as rail-a words them. */
export const eventsA = {
  captured: (topup: Topup, more: PaymentA = {}) =>
    eventA('payment.captured', more, { payment: paymentA(topup, 'captured', more) }),
  orderPaid: (topup: Topup, more: PaymentA = {}) =>
    eventA('order.paid', more, {
      payment: paymentA(topup, 'captured', more),
      order: {
        id: topup.gateway_ref,
        entity: 'order',
        amount: topup.total_minor,
        receipt: topup.id,
        notes: { topup_id: topup.id, org_id: topup.org_id },
        status: 'paid',
      },
    }),
  failed: (topup: Topup, more: PaymentA = {}) =>
    eventA('payment.failed', more, { payment: paymentA(topup, 'failed', more) }),
};

async function expectRight(world: Pick<World, 'url' | 'rows'>): Promise<void> {
  const report = await verifyLedger({ url: world.url });
  expect(report.findings).toEqual([]);
  const rows = await world.rows<{
    id: string;
    status: string;
    entries: number;
    lots: number;
    invoices: number;
    credits: number | null;
    credits_micro: number;
  }>(`
    select t.id, t.status, t.credits_micro,
           (select count(*)::int from ledger.entry e where e.ref_type = 'topup' and e.ref_id = t.id) as entries,
           (select sum(e.amount)::bigint from ledger.entry e where e.ref_type = 'topup' and e.ref_id = t.id) as credits,
           (select count(*)::int from ledger.lot l where l.lot_id = t.lot_id) as lots,
           (select count(*)::int from invoice i where i.topup_id = t.id and i.kind <> 'credit_note') as invoices
      from topup t`);
  for (const row of rows) {
    const count = row.status === 'paid' ? 1 : 0;
    expect([row.id, row.entries, row.lots, row.invoices]).toEqual([row.id, count, count, count]);
    if (count === 1) expect(row.credits).toBe(row.credits_micro);
  }
}

/** The same context, `hours` later. */
export function later(context: Context, hours: number): Context {
  return atTime(context, new Date(Date.now() + hours * 3_600_000));
}

/** The same context at that moment, inside of its transactions too. */
export function atTime(context: Context, at: Date): Context {
  return Object.create(context, {
    now: { value: () => at },
    acrossOrgs: { get: () => atTime(context.acrossOrgs, at) },
    afterCommit: { value: context.afterCommit.bind(context) },
    requestHeader: { value: context.requestHeader.bind(context) },
    transaction: {
      value: <T>(work: (inner: Context) => Promise<T>) =>
        context.transaction((inner) => work(atTime(inner, at))),
    },
  });
}

/** Starts everything; it ends after the file. */
export async function startWorld(): Promise<World> {
  const url = await createTestDatabase();
  const sim = await startRailSim({ webhook_secrets: [SECRET] });
  const sim_a = await startRailASim({ webhook_secrets: [SECRET_A] });
  const pool = createPool(url, { max: 12, role: 'svc_runtime' });
  atFileEnd(async () => {
    await pool.end();
    await Promise.all([sim.close(), sim_a.close()]);
  });
  const rails = openRails(
    readConfig({
      SVC_RAIL_A_BASE_URL: sim_a.url,
      SVC_RAIL_A_KEY_ID: 'rzp_test_tests',
      SVC_RAIL_A_KEY_SECRET: 'secret-of-rail-a',
      SVC_RAIL_A_WEBHOOK_SECRET: `old-secret-of-rail-a,${SECRET_A}`,
      SVC_RAIL_B_BASE_URL: sim.url,
      SVC_RAIL_B_KEY_SECRET: 'sk_test_tests',
      SVC_RAIL_B_WEBHOOK_SECRET: `whsec_old,${SECRET}`,
    }),
  );
  const rail = rails['rail-b'] as Rail;
  const rail_a = rails['rail-a'] as Rail;
  const urls = { console_url: 'http://console.test', base_url: 'http://gateway.test' };
  const money_in = { rails, fx: openFx('static'), ...urls, refund_wait_ms: 0 };
  const context = createContext({
    request_id: newRequestId(),
    caller: { kind: 'public' },
    pool,
    log: silentLog,
    services: { money_in, root_key: Buffer.alloc(32, 7) } as unknown as Services,
  });
  const rows = async <T>(text: string, values: unknown[] = []) =>
    (await pool.query<T>({ name: '', text, values })).rows;
  const read = async (id: Id<'topup'>) => (await findTopup(pool, { id, org_id: null })) as Topup;
  return {
    url,
    pool,
    sim,
    rail,
    sim_a,
    rail_a,
    context,
    rows,
    read,
    async org(slug) {
      const made = await createOrg(context, { slug, name: slug, billing_country: 'US' });
      await setBilling(pool, { org_id: made.id, at: new Date(), billing_email: `${slug}@example.com` });
      return (await findOrg(pool, made.id)) as Org;
    },
    async indian(slug, state_code = '29') {
      const made = await createOrg(context, { slug, name: slug, billing_country: 'IN' });
      const facts = { billing_address: { state_code }, billing_email: `${slug}@example.in` };
      await setBilling(pool, { org_id: made.id, at: new Date(), ...facts });
      return (await findOrg(pool, made.id)) as Org;
    },
    async topup(org, amount_minor = org.billing_country === 'IN' ? 100_000 : 2_500) {
      return (await createTopup(context, { org_id: org.id, amount_minor })).topup;
    },
    deliver(event, at = 0) {
      const raw = Buffer.from(JSON.stringify(event, null, 2));
      const signature = sim.webhooks.sign(raw.toString(), Math.floor(Date.now() / 1_000) + at);
      return takeRailCallback(context, rail, { raw, signature });
    },
    deliverA({ id, body }) {
      const raw = Buffer.from(JSON.stringify(body));
      const signature = sim_a.webhooks.sign(raw.toString());
      return takeRailCallback(context, rail_a, { raw, signature, event_id: id });
    },
    expectRight: () => expectRight({ url, rows }),
  };
}
