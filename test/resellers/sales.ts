// Resellers whose customers pay over simulated rails, and people of them, for tests of documents and of closing.
import { trialBalance } from '@svc/core/accounting/index.ts';
import { createPerson } from '@svc/core/identity/index.ts';
import {
  type Caller,
  type Context,
  type Id,
  newId,
  newRequestId,
  now,
  type Services,
  silentLog,
} from '@svc/core/kernel/index.ts';
import { createContext, operations } from '@svc/core/operations/index.ts';
import { createOrg, findOrg, type Org, setBilling } from '@svc/core/orgs/index.ts';
import type { Topup } from '@svc/core/topups/index.ts';
import { expect } from 'vitest';
import { type World as MoneyWorld, startWorld } from '../refunds/world.ts';
import { eventsA } from '../topups/world.ts';

/** What a reseller says of itself, in Karnataka. */
export const identityOf = (series: string, more: object = {}) => ({
  ...{ legal_name: `Seller ${series} Private Limited`, address: ['3 Mill Lane', 'Bengaluru 560003'] },
  ...{ state_code: '29', gstin: '29AABCU9603R1ZJ', series, enabled: true, ...more },
});

export interface Sales extends MoneyWorld {
  reseller(slug: string): Promise<Org>;
  /** A customer: in a state of India, or in the United States where none is given. */
  customer(parent: Org, slug: string, state_code?: string | null): Promise<Org>;
  /** A context of an owner of `org`, as REST makes one. */
  as(org: Org): Context;
  /** Runs the operation `name` as an owner of `org`. */
  run<T>(org: Org, name: string, input?: object): Promise<T>;
  /** The ledger is right, its accounts agree with payments and documents, and no number is missing. */
  expectBooks(): Promise<void>;
  /** A top-up of 1,000 rupees, or of `amount_minor`, that was paid and booked. */
  rupees(org: Org, amount_minor?: number): Promise<Topup>;
}

/** Starts everything on a database of its own. */
export async function startSales(): Promise<Sales> {
  const world = await startWorld();
  const { context, pool } = world;
  const people = new Map<string, Id<'user'>>();
  const as = (org: Org): Context => {
    const user_id = people.get(org.id) ?? newId('user');
    const owner: Caller = {
      ...{ kind: 'session', session_id: newId('session'), token_hash: new Uint8Array(32) },
      ...{ user_id, email: `owner@${org.slug}.example`, org_id: org.id, role: 'owner' },
      ...{ environment: 'live', two_factor: false, proved_at: now() },
    };
    const request = { request_id: newRequestId(), caller: owner, pool, log: silentLog };
    return createContext({ ...request, services: context.services as Services });
  };
  const found = async (org: { id: Org['id'] }) => (await findOrg(pool, org.id)) as Org;
  return {
    ...world,
    as,
    async reseller(slug) {
      const made = await createOrg(context, { slug, name: slug, billing_country: 'IN' });
      const address = { billing_address: { state_code: '29' }, billing_email: `${slug}@x.example` };
      await setBilling(pool, { org_id: made.id, at: now(), ...address });
      await world.rows(`update org set kind = 'reseller' where id = $1`, [made.id]);
      const owner = { email: `owner@${slug}.example`, org_id: made.id, role: 'owner' } as const;
      people.set(made.id, (await createPerson(context, owner)).id);
      return found(made);
    },
    async customer(parent, slug, state_code = null) {
      const billing_country = state_code === null ? 'US' : 'IN';
      const of = { parent_org_id: parent.id, reseller_tier_id: null };
      const made = await createOrg(context, { slug, name: slug, billing_country, ...of });
      const address = state_code === null ? {} : { billing_address: { state_code } };
      await setBilling(pool, { org_id: made.id, at: now(), billing_email: `${slug}@x.example`, ...address });
      return found(made);
    },
    async run<T>(org: Org, name: string, input: object = {}) {
      const operation = operations.find((one) => one.name === name);
      if (operation === undefined) throw new Error(`no operation ${name}`);
      return (await operation.run(as(org), input as never)) as T;
    },
    async expectBooks() {
      await world.expectRight();
      const to = new Date(now().getTime() + 1_000 * 86_400_000);
      const { controls, ok } = await trialBalance(pool, { from: null, to, current: true });
      expect([controls.filter(({ expected, found }) => expected !== found), ok]).toEqual([[], true]);
      const gaps = await world.rows(`
        select c.series, c.fy from invoice_counter c
          left join invoice i on i.supplier_id = c.supplier and i.number like c.series || '/' || c.fy || '/%'
         group by c.supplier, c.series, c.fy, c.last_no having count(i.id) <> c.last_no`);
      expect(gaps).toEqual([]);
    },
    async rupees(org, amount_minor) {
      const topup = await world.topup(org, amount_minor);
      await world.deliverA(eventsA.captured(topup));
      return world.read(topup.id);
    },
  };
}
