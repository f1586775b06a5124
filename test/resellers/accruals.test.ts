// What a reseller earns: counted once, credited once, on the third (docs/resellers/accruals.md); and over random trees of
// everything that moves credit, nothing is made and nothing lost.
import { trialBalance } from '@svc/core/accounting/index.ts';
import {
  type Catalog,
  catalogAt,
  committedCatalog,
  loadCatalog,
  type PriceVersion,
} from '@svc/core/catalog/index.ts';
import { builtIn } from '@svc/core/inference/index.ts';
import { microUsd, newRequestId } from '@svc/core/kernel/index.ts';
import { debit } from '@svc/core/ledger/index.ts';
import { holdOf, settleOf } from '@svc/core/ledger/testing/testing.ts';
import { price } from '@svc/core/pricing/index.ts';
import { accrualOf } from '@svc/core/resellers/accruals/count.ts';
import { countAccruals, creditAccruals, type StatementView } from '@svc/core/resellers/index.ts';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { clockAt } from '../credits/world.ts';
import type { Tenant } from '../registry/harness.ts';
import { expectStatement } from './statement.ts';
import { type Reseller, startResellers } from './world.ts';

interface Accrual {
  readonly month: string;
  readonly child_org_id: string;
  readonly usage_micro: number;
  readonly markup_micro: number;
  readonly burned_micro: number;
  readonly paid_micro: number;
  readonly written_off_micro: number;
  readonly accrued_micro: number;
  readonly status: string;
  readonly ledger_seq: number | null;
}
const USD = 1_000_000;
const world = await startResellers();
const { harness, ask, ledger } = world;
const catalog = await loadCatalog(harness.pool, [committedCatalog], {
  ...{ formats: builtIn.catalog, insecure_upstreams: false },
});
/** An endpoint whose price has no bands, so that a cost is tokens times a rate. */
const endpoint = [...catalog.endpoints.values()].find(
  ({ price: of, unrounded }) =>
    of.bands.length === 0 && of.rates.input >= 500 && unrounded?.[of.id] !== undefined,
);
if (endpoint === undefined) throw new Error('the catalog has no such endpoint');
const priceAt = async (tier_bps: number): Promise<PriceVersion> => {
  const at: Catalog = await catalogAt(catalog, tier_bps);
  return at.endpoints.get(endpoint.id)?.price as PriceVersion;
};
const usageOf = (input_tokens: number) => ({
  ...{ input_tokens, output_tokens: 0, cache_read_tokens: 0, cache_write_tokens: 0, reasoning_tokens: 0 },
  source: 'provider' as const,
});

/** A call of `tenant` that uses so many tokens at a tier, and holds `hold` of its cost. */
async function call(tenant: Tenant, tier_bps: number, tokens: number, hold = 1): Promise<number> {
  const version = await priceAt(tier_bps);
  const cost = price(usageOf(tokens), version).total_micro_usd;
  const [key] = await world.rows<{ key_no: number }>('select key_no from api_key where id = $1', [
    tenant.key_id,
  ]);
  const subject = {
    ...{ book_id: tenant.org.live_book_id, key_no: key?.key_no as number, project_no: tenant.live.live_no },
  };
  const request_id = newRequestId();
  const held = await ledger.hold(holdOf(subject, Math.floor(cost * hold), request_id));
  if (held.status !== 'ok') return 0;
  const { source: _, ...tokens_used } = usageOf(tokens);
  await ledger.settle({
    ...settleOf(subject, request_id, cost),
    ...{ endpoint_no: endpoint?.endpoint_no as number, price_no: version.price_no },
    units: { ...tokens_used, cache_write_5m_tokens: 0, cache_write_1h_tokens: 0 },
  });
  return cost;
}

/** The months of a reseller as it sees them at the present clock. */
async function accruals(reseller: Reseller): Promise<Accrual[]> {
  const token = await harness.signIn(reseller.owner);
  return (await ask<{ data: Accrual[] }>('GET', '/v1/reseller/accruals', token)).data;
}
const earned = (tenant: Tenant) =>
  world.rows<{ amount: number; is_grant: boolean; expires_at: Date }>(
    `select e.amount, l.is_grant, l.expires_at from ledger.entry e join ledger.lot l on l.book_id = e.book_id and l.seq = e.seq
      where e.book_id = $1 and e.kind = 20`,
    [tenant.org.live_book_id],
  );

test('a month is open until the third, is credited then once however many workers there are, and a late count adds nothing', async () => {
  clockAt('2026-10-20T10:00:00Z');
  const acme = await world.reseller('acme-month');
  const child = await world.child(acme, 'north-month');
  await world.paid(child, 10 * USD);
  const cost = await call(child, 1_250, 100_000);
  const at_catalog = price(usageOf(100_000), await priceAt(0)).total_micro_usd;
  await countAccruals(world.context);
  await Promise.all([countAccruals(world.context), countAccruals(harness.context)]);
  const open = {
    ...{
      month: '2026-10',
      child_org_id: child.org.id,
      child_name: child.org.name,
      usage_micro: cost,
      markup_micro: cost - at_catalog,
    },
    ...{ burned_micro: cost, paid_micro: cost, written_off_micro: 0, accrued_micro: cost - at_catalog },
  };
  expect(await accruals(acme)).toEqual([{ ...open, status: 'open', ledger_seq: null }]);
  expect(cost - at_catalog).toBeGreaterThan(0);
  clockAt('2026-11-02T23:59:00Z');
  await creditAccruals(world.context);
  expect(await earned(acme)).toEqual([]);
  clockAt('2026-11-03T00:01:00Z');
  await Promise.all([
    creditAccruals(world.context),
    creditAccruals(harness.context),
    creditAccruals(world.context),
  ]);
  const [credited] = await earned(acme);
  expect(credited).toEqual({ amount: cost - at_catalog, is_grant: true, expires_at: expect.any(Date) });
  expect(credited?.expires_at.toISOString()).toMatch(/^2027-11-03T00:01/);
  const closed = [{ ...open, status: 'credited', ledger_seq: 1 }];
  expect(await accruals(acme)).toEqual(closed);
  // A worker that died before it noted the entry leaves it to the next.
  await world.rows('update reseller_accrual set ledger_seq = null where child_org_id = $1', [child.org.id]);
  await creditAccruals(world.context);
  await countAccruals(world.context);
  expect(await accruals(acme)).toEqual(closed);
  expect(await earned(acme)).toHaveLength(1);
  await world.expectRight();
});

test('granted credit of the platform earns nothing, and what was given by the reseller does', async () => {
  clockAt('2026-10-20T10:00:00Z');
  const acme = await world.reseller('acme-share');
  const [granted, allocated] = [await world.child(acme, 'granted'), await world.child(acme, 'allocated')];
  await world.grant(granted, 5 * USD);
  await world.paid(acme, 5 * USD);
  await ask(
    ...(['POST', `/v1/reseller/children/${allocated.org.id}/allocations`, acme.token] as const),
    ...([{ amount_micro_usd: 5 * USD }, 201] as const),
  );
  const cost = await call(granted, 5_000, 50_000);
  await call(allocated, 5_000, 50_000);
  await countAccruals(world.context);
  const of = new Map((await accruals(acme)).map((one) => [one.child_org_id as string, one]));
  expect(of.get(granted.org.id)).toMatchObject({ burned_micro: cost, paid_micro: 0, accrued_micro: 0 });
  const given = of.get(allocated.org.id);
  expect(given).toMatchObject({ burned_micro: cost, paid_micro: cost });
  expect(given?.accrued_micro).toBe(given?.markup_micro);
});

test('what was written off is taken from what the month earned, and a month never earns less than nothing', async () => {
  clockAt('2026-10-20T10:00:00Z');
  const acme = await world.reseller('acme-off');
  const child = await world.child(acme, 'north-off');
  const cost = price(usageOf(100_000), await priceAt(1_250)).total_micro_usd;
  await world.paid(child, cost - 7);
  await call(child, 1_250, 100_000, 0.5);
  await countAccruals(world.context);
  const [month] = await accruals(acme);
  expect(month).toMatchObject({ usage_micro: cost, burned_micro: cost - 7, written_off_micro: 7 });
  expect(month?.accrued_micro).toBe((month?.markup_micro as number) - 7);
  const figures = { markup_micro: 313, burned_micro: 2_813, paid_micro: 2_813, written_off_micro: 0 };
  expect(accrualOf(figures)).toBe(313);
  expect(accrualOf({ ...figures, written_off_micro: 400 })).toBe(0);
  expect(accrualOf({ ...figures, paid_micro: 1_000 })).toBe(111);
  expect(accrualOf({ ...figures, burned_micro: 0, paid_micro: 0 })).toBe(0);
});

test('the statement for an accountant adds up, and names no other reseller’s customers', async () => {
  clockAt('2026-10-20T10:00:00Z');
  const acme = await world.reseller('acme-csv');
  for (const slug of ['north-csv', 'south-csv']) {
    const child = await world.child(acme, slug);
    await world.paid(child, 5 * USD);
    await call(child, 1_000, 40_000);
  }
  await countAccruals(world.context);
  const reply = await harness.call('GET', '/v1/reseller/accruals?format=csv&month=2026-10', {
    key: acme.token,
  });
  expect(reply.headers['content-disposition']).toBe('attachment; filename="accruals-acme-csv-2026-10.csv"');
  const lines = reply.body.trim().split('\r\n');
  expect(lines).toHaveLength(4);
  const cells = lines.slice(1).map((line) => line.split(','));
  const column = (at: number) => cells.slice(0, 2).reduce((sum, line) => sum + Number(line[at]), 0);
  for (const at of [2, 3, 4, 5, 6, 7]) expect(Number(cells[2]?.[at])).toBe(column(at));
  expect(column(7)).toBeGreaterThan(0);
});

/** One thing that happens to credit. */
const action = fc.oneof(
  fc.record({
    kind: fc.constantFrom('pay', 'pay parent', 'grant'),
    child: fc.nat(2),
    micro: fc.integer({ min: 1, max: 3 * USD }),
  }),
  fc.record({ kind: fc.constant('allocate'), child: fc.nat(2), micro: fc.integer({ min: 1, max: 2 * USD }) }),
  fc.record({ kind: fc.constant('reclaim'), child: fc.nat(2), micro: fc.nat(9) }),
  fc.record({ kind: fc.constant('refund'), child: fc.nat(2), micro: fc.integer({ min: 1, max: USD }) }),
  fc.record({ kind: fc.constant('tier'), child: fc.nat(2), micro: fc.constantFrom(0, 333, 1_250, 10_000) }),
  fc.record({
    kind: fc.constantFrom('call', 'call', 'call', 'overrun'),
    child: fc.nat(2),
    micro: fc.integer({ min: 1, max: 900_000 }),
  }),
  fc.record({ kind: fc.constant('count'), child: fc.nat(2), micro: fc.constant(0) }),
);
type Action = typeof action extends fc.Arbitrary<infer T> ? T : never;

let trees = 0;
/** A reseller with three customers to whom `actions` happen; what its books must then say is kept beside them. */
async function grow(actions: readonly Action[]): Promise<void> {
  clockAt('2026-10-20T10:00:00Z');
  const name = `tree-${++trees}`;
  const acme = await world.reseller(name);
  const children = [];
  for (const n of [0, 1, 2]) children.push(await world.child(acme, `${name}-${n}`));
  const tiers = [0, 1_250, 333];
  const made: { id: string; child: number }[] = [];
  let brought = 0;
  let refunded = 0;
  let spent = 0;
  const markup = [0, 0, 0];
  for (const [at, { kind, child, micro }] of actions.entries()) {
    const tenant = children[child] as Tenant;
    const path = `/v1/reseller/children/${tenant.org.id}/allocations`;
    if (kind === 'pay' || kind === 'pay parent' || kind === 'grant') {
      brought += micro;
      await (kind === 'grant'
        ? world.grant(tenant, micro)
        : world.paid(kind === 'pay' ? tenant : acme, micro));
    } else if (kind === 'allocate') {
      const reply = await harness.call('POST', path, { key: acme.token, body: { amount_micro_usd: micro } });
      expect([201, 402]).toContain(reply.statusCode);
      if (reply.statusCode === 201) made.push({ id: (reply.json() as { id: string }).id, child });
    } else if (kind === 'reclaim') {
      const one = made[micro % Math.max(made.length, 1)];
      if (one === undefined) continue;
      const of = children[one.child] as Tenant;
      await ask('POST', `/v1/reseller/children/${of.org.id}/allocations/${one.id}/reclaim`, acme.token);
    } else if (kind === 'refund') {
      const taken = await debit(harness.pool, {
        ...{
          book_id: tenant.org.live_book_id,
          kind: 'refund',
          amount_micro_usd: microUsd(micro),
          paid_only: true,
        },
        ...{ ref_type: 'refund', ref_id: `${name} ${at}`, short: 'refuse' },
      });
      if (taken.status === 'taken') refunded += taken.taken_micro_usd;
    } else if (kind === 'tier') tiers[child] = micro;
    else if (kind === 'count') await countAccruals(world.context);
    else {
      const tier_bps = tiers[child] as number;
      const cost = await call(tenant, tier_bps, micro, kind === 'overrun' ? 0.3 : 1);
      spent += cost;
      if (cost === 0) continue;
      const at_catalog = price(usageOf(micro), await priceAt(0)).total_micro_usd;
      markup[child] = (markup[child] as number) + cost - at_catalog;
    }
  }
  await countAccruals(world.context);
  const books = [acme, ...children].map(({ org }) => org.live_book_id);
  const [held] = await world.rows<{ balance: number; off: number }>(
    `select (select sum(available + held)::bigint from ledger.book where book_id = any ($1)) as balance,
            (select coalesce(sum(amount), 0)::bigint from ledger.writeoff where book_id = any ($1)) as off`,
    [books],
  );
  // Nothing is made and nothing lost.
  expect(held?.balance).toBe(brought - refunded - spent + (held?.off as number));
  const seen = new Map((await accruals(acme)).map((one) => [one.child_org_id as string, one]));
  let expected = 0;
  for (const [n, child] of children.entries()) {
    // Worked out without the counters: which credit calls used, out of the ledger's own ranges.
    const [use] = await world.rows<{ burned: number; paid: number; off: number }>(
      `select coalesce(sum(b.to_micro - b.from_micro), 0)::bigint as burned,
              coalesce(sum(b.to_micro - b.from_micro) filter (where not l.is_grant or e.ref_type = 'allocation'), 0)::bigint as paid,
              (select coalesce(sum(w.amount), 0)::bigint from ledger.writeoff w where w.book_id = $1) as off
         from ledger.burn b join ledger.lot l on l.lot_no = b.lot_no
         join ledger.entry e on e.book_id = l.book_id and e.seq = l.seq
        where b.book_id = $1 and b.seq is null`,
      [child.org.live_book_id],
    );
    const { burned = 0, paid = 0, off = 0 } = use ?? {};
    const share = burned === 0 ? 0 : Math.floor(((markup[n] as number) * paid) / burned);
    const month = seen.get(child.org.id);
    expect([month?.markup_micro ?? 0, month?.accrued_micro ?? 0]).toEqual([
      markup[n],
      Math.max(0, share - off),
    ]);
    expected += Math.max(0, share - off);
  }
  const statement = await ask<StatementView>('GET', '/v1/reseller/statement?month=2026-10', acme.token);
  await expectStatement(world, statement, { reseller: acme.org, children: children.map(({ org }) => org) });
  expect(statement.totals).toMatchObject({
    ...{ markup_micro: markup.reduce((all, one) => all + one), accrued_micro: expected, usage_micro: spent },
    refunded_micro: refunded,
  });
  clockAt('2026-11-03T10:00:00Z');
  await creditAccruals(world.context, 10_000);
  const sum = (await earned(acme)).reduce((all, { amount }) => all + amount, 0);
  expect(sum).toBe(expected);
  clockAt('2026-10-20T10:00:00Z');
}

test('over random trees of payments, allocations, reclaims, refunds, tiers and calls nothing is made or lost, a month earns markup times its paid share, and its statement is the ledger to the micro', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(action, { minLength: 8, maxLength: 24 }), (actions) => grow(actions)),
    { numRuns: 10, endOnFailure: true },
  );
  await world.expectRight();
  const { lines } = await trialBalance(harness.pool, {
    from: null,
    to: new Date('2030-01-01'),
    current: true,
  });
  expect(lines.reduce((sum, line) => sum + line.closing, 0n)).toBe(0n);
  expect(lines.find(({ account }) => account === 'transfers')?.closing ?? 0n).toBe(0n);
}, 180_000);

test('no caller met a defect', () => {
  expect(harness.defects).toEqual([]);
});
