// A database and documents in it, of every kind, without a rail.
import { createPool, type Pool } from '@svc/core/db/index.ts';
import {
  DEMO_SUPPLIER,
  findInvoice,
  type Invoice,
  type InvoiceId,
  issueTopupInvoice,
  type Supplier,
  taxTerms,
} from '@svc/core/invoices/index.ts';
import { type Context, newId, newRequestId, type Services, silentLog } from '@svc/core/kernel/index.ts';
import { createContext } from '@svc/core/operations/index.ts';
import {
  type Billing,
  type BillingChange,
  createOrg,
  findBilling,
  findOrg,
  type Org,
  setBilling,
} from '@svc/core/orgs/index.ts';
import { createTestDatabase } from '../support/database.ts';
import { atFileEnd } from '../support/ends.ts';

export interface World {
  readonly url: string;
  readonly pool: Pool;
  readonly context: Context;
  /** `context` at another time. */
  at(time: string): Context;
  /** An organization of `country` with these billing facts. */
  org(country: string, billing?: BillingChange): Promise<Org>;
  /** The document of a sale of `amount_minor` to `org`. */
  issue(org: Org, sale?: Sale): Promise<Invoice>;
  read(org: Org, id: InvoiceId): Promise<Invoice>;
  rows<T>(text: string, values?: unknown[]): Promise<T[]>;
}

interface Sale {
  readonly amount_minor?: number;
  readonly supplier?: Supplier;
  readonly context?: Context;
}

/** `context` with another clock. */
export function atTime(context: Context, at: Date): Context {
  return Object.create(context, {
    now: { value: () => at },
    transaction: {
      value: <T>(work: (inner: Context) => Promise<T>) =>
        context.transaction((inner) => work(Object.create(inner, { now: { value: () => at } }))),
    },
  });
}

async function issue(context: Context, org: Org, sale: Sale): Promise<InvoiceId> {
  const topup_id = newId('topup');
  const billing = (await findBilling(context.db, org.id)) as Billing;
  const { amount_minor = 100_000, supplier = DEMO_SUPPLIER } = sale;
  const { id } = await context.transaction((context) =>
    issueTopupInvoice(context, {
      topup_id,
      payment_ref: `pay_${topup_id}`,
      currency: billing.currency,
      amount_minor,
      fx_rate: billing.currency === 'INR' ? '90.03050000' : '1.00000000',
      credits_micro: 11_107_346,
      terms: taxTerms({
        ...{ supplier, billing, amount_minor, gst_rate_bps: 1_800 },
        inr_rate: billing.currency === 'INR' ? null : '88.70000000',
      }),
    }),
  );
  return id;
}

/** Starts everything, on `existing` where that is given; it ends after the file. */
export async function startWorld(existing?: string): Promise<World> {
  const url = existing ?? (await createTestDatabase());
  const pool = createPool(url, { max: 12, role: 'svc_runtime' });
  atFileEnd(() => pool.end());
  const context = createContext({
    request_id: newRequestId(),
    caller: { kind: 'public' },
    pool,
    log: silentLog,
    services: { root_key: Buffer.alloc(32, 7) } as unknown as Services,
  });
  let serial = 0;
  const read = async (org: Org, id: InvoiceId) =>
    (await findInvoice(context.db, { org_id: org.id, id })) as Invoice;
  return {
    ...{ url, pool, context, read },
    at: (time) => atTime(context, new Date(time)),
    async org(country, billing = {}) {
      const slug = `org-${++serial}`;
      const made = await createOrg(context, { slug, name: slug, billing_country: country });
      await setBilling(pool, {
        org_id: made.id,
        at: context.now(),
        billing_email: `${slug}@example.com`,
        ...billing,
      });
      return (await findOrg(pool, made.id)) as Org;
    },
    issue: async (org, sale = {}) => read(org, await issue(sale.context ?? context, org, sale)),
    rows: async <T>(text: string, values: unknown[] = []) =>
      (await pool.query<T>({ name: '', text, values })).rows,
  };
}
