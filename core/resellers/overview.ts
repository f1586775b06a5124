// What a reseller sees first: its customers, what it can give them, what this month earns, and what waits for a person.
import { type Static, Type } from 'typebox';
import { type Context, idOf, named, nullable, operation } from '../kernel/index.ts';
import { readBalances } from '../ledger/index.ts';
import { findOrg } from '../orgs/index.ts';
import { countWaiting } from '../support/index.ts';
import { hasPaymentHold } from '../topups/index.ts';
import { earnedOf } from './accruals/operations.ts';
import { listAccruals } from './accruals/store.ts';
import { givable } from './allocations/allocate.ts';
import { holders, resellerCaller } from './audience.ts';
import { listStandings, type Standing } from './children/store.ts';

/** Customers without credit that are named; how many there are is told beside them. */
const NAMED_MAX = 10;
/** As many rows as a statement has. */
const ROWS_MAX = 10_000;

const ChildName = named('ResellerChildName', Type.Object({ id: idOf('org'), name: Type.String() }));

const Month = named(
  'ResellerMonth',
  Type.Object({
    month: Type.String({ description: 'YYYY-MM, UTC' }),
    usage_micro: Type.Integer({ description: 'what calls of customers cost them' }),
    markup_micro: Type.Integer({ description: 'how much of it is above catalog prices' }),
    accrued_micro: Type.Integer({ description: 'what of that the reseller would be credited now' }),
  }),
);

export const ResellerOverview = named(
  'ResellerOverview',
  Type.Object({
    active: Type.Integer({ description: 'customers whose calls are answered' }),
    suspended: Type.Integer(),
    closed: Type.Integer(),
    givable_micro_usd: Type.Integer({ description: 'paid credit that no call holds' }),
    payment_hold: Type.Boolean({ description: 'a payment is disputed, so that nothing can be given' }),
    without_credit: Type.Integer({ description: 'active customers with no credit left' }),
    named_without_credit: Type.Array(ChildName, {
      description: `at most ${NAMED_MAX}, by name`,
    }),
    tickets_waiting: nullable(
      Type.Integer({ description: 'tickets that wait for an answer; null without reseller.support' }),
    ),
    this_month: Month,
  }),
);
type ResellerOverview = Static<typeof ResellerOverview>;

/** Of `children`, those that are active and have nothing left. */
async function withoutCredit(context: Context, children: readonly Standing[]): Promise<Standing[]> {
  const active = children.filter(({ status }) => status === 'active');
  const left = new Map<string, number>();
  for (const shard of new Set(active.map((child) => child.shard))) {
    const books = active.filter((child) => child.shard === shard).map(({ live_book_id }) => live_book_id);
    for (const [book, { available_micro_usd }] of await readBalances(context.shards.at(shard), books))
      left.set(`${shard} ${book}`, available_micro_usd);
  }
  return active.filter(({ shard, live_book_id }) => (left.get(`${shard} ${live_book_id}`) ?? 0) <= 0);
}

async function thisMonth(context: Context): Promise<ResellerOverview['this_month']> {
  const { org_id } = resellerCaller(context);
  const month = context.now().toISOString().slice(0, 7);
  const filter = { org_id, month: `${month}-01`, child_org_id: null };
  const rows = await listAccruals(context.db, { ...filter, after: null, limit: ROWS_MAX });
  return {
    month,
    usage_micro: rows.reduce((sum, row) => sum + row.usage_micro, 0),
    markup_micro: rows.reduce((sum, row) => sum + row.markup_micro, 0),
    accrued_micro: rows.reduce((sum, row) => sum + earnedOf(row), 0),
  };
}

export const resellerOverviewOperation = operation({
  name: 'reseller.overview',
  method: 'GET',
  path: '/v1/reseller/overview',
  summary: 'Read how the customers stand, what can be given, what this month earns and what waits',
  audience: holders('reseller.read'),
  input: Type.Object({}),
  output: ResellerOverview,
  errors: ['grant_required'],
  example: {
    ...{ active: 12, suspended: 1, closed: 0, givable_micro_usd: 250_000_000, payment_hold: false },
    ...{ without_credit: 1, tickets_waiting: 2 },
    named_without_credit: [{ id: 'org_01KACZ3V8S6T5R4Q3P2N1M0K9J', name: 'Northwind' }],
    this_month: { month: '2026-11', usage_micro: 2_813, markup_micro: 313, accrued_micro: 313 },
  },
  async run(context) {
    const { org_id, reseller_grants = [] } = resellerCaller(context);
    const reseller = await findOrg(context.db, org_id);
    if (reseller === null) throw new Error('a reseller that is not there');
    const children = await listStandings(context.acrossOrgs.db, org_id);
    const count = (status: Standing['status']) => children.filter((child) => child.status === status).length;
    const empty = await withoutCredit(context, children);
    const ids = children.map(({ id }) => id);
    return {
      ...{ active: count('active'), suspended: count('suspended'), closed: count('closed') },
      givable_micro_usd: Math.max(0, await givable(context, reseller)),
      payment_hold: await hasPaymentHold(context.db, org_id),
      without_credit: empty.length,
      named_without_credit: empty.slice(0, NAMED_MAX).map(({ id, name }) => ({ id, name })),
      tickets_waiting: reseller_grants.includes('reseller.support')
        ? await countWaiting(context.acrossOrgs.db, ids)
        : null,
      this_month: await thisMonth(context),
    };
  },
});
