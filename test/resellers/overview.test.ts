// What a reseller sees first, and what a markup would cost before a tier is saved with it.
import { newRequestId } from '@svc/core/kernel/index.ts';
import { createContext } from '@svc/core/operations/index.ts';
import {
  listResellersOperation,
  listStaffCustomersOperation,
  listStaffMonthsOperation,
  setOrgKindOperation,
} from '@svc/core/resellers/index.ts';
import { expect, test } from 'vitest';
import { startResellers } from './world.ts';

const world = await startResellers();
const { harness, ask, refused } = world;
const USD = 1_000_000;
const acme = await world.reseller('acme-first');
const other = await world.reseller('other-first');

interface Overview {
  readonly active: number;
  readonly suspended: number;
  readonly givable_micro_usd: number;
  readonly payment_hold: boolean;
  readonly without_credit: number;
  readonly named_without_credit: readonly { readonly id: string; readonly name: string }[];
  readonly tickets_waiting: number | null;
  readonly this_month: { readonly accrued_micro: number; readonly markup_micro: number };
}
const overview = (token = acme.token) => ask<Overview>('GET', '/v1/reseller/overview', token);

test('an overview counts customers, names those without credit, and gives no more than what was paid', async () => {
  const empty = { active: 0, suspended: 0, givable_micro_usd: 0, without_credit: 0, tickets_waiting: 0 };
  expect(await overview(other.token)).toMatchObject(empty);
  const [north, south, west] = [
    await world.child(acme, 'north-first'),
    await world.child(acme, 'south-first'),
    await world.child(acme, 'west-first'),
  ];
  await world.paid(acme, 30 * USD);
  await world.grant(acme, 50 * USD);
  await world.paid(north, USD);
  const path = `/v1/reseller/children/${west.org.id}`;
  await ask('PATCH', path, acme.token, { status: 'suspended' });
  await world.rows(
    `insert into reseller_accrual (child_org_id, org_id, month, usage_micro, markup_micro, burned_micro, paid_micro,
                                   written_off_micro)
     values ($1, $2, date_trunc('month', now() at time zone 'UTC')::date, 900, 100, 900, 450, 7)`,
    [north.org.id, acme.org.id],
  );
  expect(await overview()).toMatchObject({
    ...{ active: 2, suspended: 1, givable_micro_usd: 30 * USD, payment_hold: false, without_credit: 1 },
    named_without_credit: [{ id: south.org.id, name: south.org.name }],
    // Half of what was used was paid for, and 7 were written off.
    this_month: { usage_micro: 900, markup_micro: 100, accrued_micro: 43 },
  });
  expect(await overview(other.token)).toMatchObject(empty);
});

test('tickets of customers are counted and listed for support alone, and of one customer where it is asked for', async () => {
  const [one, two] = [await world.child(other, 'one-asks'), await world.child(other, 'two-asks')];
  const body = { kind: 'other', subject: 'Hello', body: 'Is anybody there?' };
  const { id } = await ask<{ id: string }>('POST', '/v1/tickets', one.key, body, 201);
  await ask('POST', '/v1/tickets', two.key, body, 201);
  expect(await overview(other.token)).toMatchObject({ tickets_waiting: 2 });
  const of = (child: string) => `/v1/reseller/tickets?child_org_id=${child}`;
  const { data } = await ask<{ data: { ticket: { id: string } }[] }>('GET', of(one.org.id), other.token);
  expect(data.map(({ ticket }) => ticket.id)).toEqual([id]);
  // Whose customer it is not finds nobody, also where the customer is somebody else's.
  expect(await refused('GET', of(one.org.id), acme.token)).toEqual([404, 'not_found']);
  const reader = await harness.makePerson(other, 'viewer');
  await ask('PUT', `/v1/reseller/staff/${reader.id}`, other.token, { grants: ['reseller.read'] });
  expect(await overview(await harness.signIn(reader))).toMatchObject({ tickets_waiting: null });
});

test('prices at a markup are those that a tier would have, and asking for them stores nothing', async () => {
  const stored = () =>
    world.rows(`select count(*)::int as n from catalog.price_version where use like 'tier:1250 %'`);
  const before = await stored();
  const path = '/v1/reseller/tiers/prices?markup_bps=1250';
  interface Prices {
    readonly models: number;
    readonly data: readonly {
      readonly model: string;
      readonly rates: readonly {
        readonly kind: string;
        readonly catalog_nano: number;
        readonly customer_nano: number;
        readonly earned_nano: number;
      }[];
    }[];
  }
  const seen = await ask<Prices>('GET', path, acme.token);
  expect(seen.models).toBeGreaterThan(0);
  for (const { rates } of seen.data)
    for (const { catalog_nano, customer_nano, earned_nano } of rates) {
      expect(earned_nano).toBe(customer_nano - catalog_nano);
      // Rounded once from the price before rounding: a nano at most from what the rounded price gives.
      expect(Math.abs(customer_nano - catalog_nano * 1.125)).toBeLessThanOrEqual(1.125);
    }
  expect(await stored()).toEqual(before);
  const model = seen.data[0]?.model as string;
  const found = await ask<Prices>('GET', `${path}&q=${encodeURIComponent(model)}`, acme.token);
  expect(found.data.every((price) => price.model.includes(model))).toBe(true);
  const free = await ask<Prices>('GET', '/v1/reseller/tiers/prices?markup_bps=0', acme.token);
  expect(free.data.flatMap(({ rates }) => rates).every(({ earned_nano }) => earned_nano === 0)).toBe(true);
  expect(await refused('GET', '/v1/reseller/tiers/prices?markup_bps=10001', acme.token)).toEqual([
    ...[400, 'invalid_request'],
  ]);
});

test('a session says what a person may do in each reseller that they belong to, and in nothing else', async () => {
  interface Session {
    readonly orgs: readonly { readonly slug: string; readonly grants?: readonly string[] }[];
  }
  const person = await harness.makePerson(acme, 'developer');
  const grants = async () => {
    const { orgs } = await ask<Session>('GET', '/v1/auth/session', await harness.signIn(person));
    return orgs.map(({ slug, grants }) => [slug, grants]);
  };
  expect(await grants()).toEqual([[acme.org.slug, []]]);
  await ask('PUT', `/v1/reseller/staff/${person.id}`, acme.token, { grants: ['reseller.support'] });
  expect(await grants()).toEqual([[acme.org.slug, ['reseller.support']]]);
  const nobody = await harness.makeTenant('no-reseller');
  const owner = await harness.signIn(await harness.makePerson(nobody, 'owner'));
  const { orgs } = await ask<Session>('GET', '/v1/auth/session', owner);
  expect(orgs.map(({ grants }) => grants)).toEqual([undefined]);
});

test('staff see what each reseller has and earns, its customers, and nothing of what is none', async () => {
  const sells = await world.reseller('sells-staff');
  const [one, two] = [await world.child(sells, 'one-staff'), await world.child(sells, 'two-staff')];
  await world.paid(sells, 7 * USD);
  await world.paid(two, USD);
  await ask('PATCH', `/v1/reseller/children/${one.org.id}`, sells.token, { status: 'suspended' });
  const month = (back: number) =>
    new Date(Date.UTC(new Date().getUTCFullYear(), new Date().getUTCMonth() - back, 1))
      .toISOString()
      .slice(0, 7);
  const add = (child: string, back: number, status: string, accrued: number | null) =>
    world.rows(
      `insert into reseller_accrual (child_org_id, org_id, month, usage_micro, markup_micro, burned_micro, paid_micro,
                                     written_off_micro, status, accrued_micro)
       values ($1, $2, $3::date, 1000, 100, 1000, 1000, 0, $4, $5)`,
      [child, sells.org.id, `${month(back)}-01`, status, accrued],
    );
  await add(one.org.id, 0, 'open', null);
  await add(two.org.id, 0, 'open', null);
  await add(two.org.id, 1, 'credited', 90);
  await add(two.org.id, 13, 'credited', 1);
  const context = createContext({
    request_id: newRequestId(),
    caller: { kind: 'staff', name: 'test', staff_id: null, roles: ['super'] },
    pool: harness.pool,
    log: harness.context.log,
    services: { root_key: harness.root_key } as never,
  });
  const rows = async (answer: Promise<unknown>) => ((await answer) as { data: { id: string }[] }).data;
  const seen = await rows(listResellersOperation.run(context, {}));
  expect(seen.find(({ id }) => id === sells.org.id)).toMatchObject({
    ...{ customers: 2, suspended: 1, tiers: 0, available_micro_usd: 7 * USD },
    ...{ earned_micro: 200, credited_micro: 90 },
  });
  expect(seen.map(({ id }) => id)).not.toContain(one.org.id);
  const customers = rows(listStaffCustomersOperation.run(context, { id: sells.org.slug }));
  expect(await customers).toMatchObject([
    { id: two.org.id, status: 'active', available_micro_usd: USD, tier_name: null, markup_bps: 0 },
    { id: one.org.id, status: 'suspended', suspended_by_parent: true, available_micro_usd: 0 },
  ]);
  const months = rows(listStaffMonthsOperation.run(context, { id: sells.org.id }));
  expect(await months).toMatchObject([
    { month: month(0), customers: 2, usage_micro: 2_000, accrued_micro: 200, is_open: true },
    { month: month(1), customers: 1, accrued_micro: 90, is_open: false },
  ]);
  const make = { id: one.org.id, kind: 'reseller', reason: 'a mistake' } as const;
  await expect(setOrgKindOperation.run(context, make)).rejects.toMatchObject({ code: 'state_conflict' });
});
