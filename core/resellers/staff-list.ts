// Resellers as staff see them: who is one, how its customers stand, and what it earns.
import { type Static, Type } from 'typebox';
import { auditTargetOf, getStaffOrg } from '../credits/index.ts';
import { writeAudit } from '../identity/index.ts';
import {
  type Context,
  type Id,
  idOf,
  listOf,
  nullable,
  oneOf,
  operation,
  page,
  pageInput,
  pageOf,
  Time,
  walkPage,
} from '../kernel/index.ts';
import { readBalances } from '../ledger/index.ts';
import { earnedOf } from './accruals/operations.ts';
import { listCustomers, listMonths, listResellers, type ResellerRow } from './staff-store.ts';

const readers = { kind: 'staff', roles: ['finance', 'support'] } as const;
const PAGE = 50;
const MONTHS = 12;
const Status = oneOf(['active', 'suspended', 'closed'], 'OrganizationStatus');

const ResellerFacts = {
  id: idOf('org'),
  slug: Type.String(),
  name: Type.String(),
  status: Status,
  available_micro_usd: Type.Integer({ description: 'of its live book' }),
  created_at: Time,
};

export const StaffResellerView = Type.Object({
  ...ResellerFacts,
  customers: Type.Integer({ description: 'those that were closed are not counted' }),
  suspended: Type.Integer({ description: 'customers that are suspended, by whomever' }),
  tiers: Type.Integer(),
  earned_micro: Type.Integer({ description: 'what this month would be credited for now' }),
  credited_micro: Type.Integer({ description: `what it was credited for the ${MONTHS} months before` }),
});
type StaffResellerView = Static<typeof StaffResellerView>;

export const StaffCustomerView = Type.Object({
  ...ResellerFacts,
  suspended_by_parent: Type.Boolean({ description: 'its reseller did it, and can undo it' }),
  tier_name: nullable(Type.String({ description: 'null: catalog prices' })),
  markup_bps: Type.Integer(),
});

export const StaffMonthView = Type.Object({
  month: Type.String({ description: 'YYYY-MM, UTC' }),
  customers: Type.Integer({ description: 'whose calls were settled in it' }),
  usage_micro: Type.Integer(),
  markup_micro: Type.Integer(),
  written_off_micro: Type.Integer(),
  accrued_micro: Type.Integer({ description: 'credited; of an open month what it would be now' }),
  is_open: Type.Boolean(),
});
type StaffMonthView = Static<typeof StaffMonthView>;

const example: StaffResellerView = {
  ...{ id: 'org_01KACZ3V8S6T5R4Q3P2N1M0K9J', slug: 'acme', name: 'Acme', status: 'active', tiers: 2 },
  ...{
    available_micro_usd: 250_000_000,
    customers: 12,
    suspended: 1,
    created_at: '2026-11-21T10:00:00.000Z',
  },
  ...{ earned_micro: 313, credited_micro: 12_000_000 },
};

/** First day of the month that lies `back` months before that of `at`, in UTC. Pure. */
function monthBefore(at: Date, back: number): string {
  return new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() - back, 1)).toISOString().slice(0, 10);
}

type Booked = { readonly shard: string; readonly live_book_id: number };

/** What is available in the live book of each of `orgs`, by ledger and book. */
async function balancesOf(context: Context, orgs: readonly Booked[]): Promise<(org: Booked) => number> {
  const found = new Map<string, number>();
  for (const shard of new Set(orgs.map((org) => org.shard))) {
    const books = orgs.filter((org) => org.shard === shard).map(({ live_book_id }) => live_book_id);
    for (const [book, { available_micro_usd }] of await readBalances(context.shards.at(shard), books))
      found.set(`${shard} ${book}`, available_micro_usd);
  }
  return ({ shard, live_book_id }) => found.get(`${shard} ${live_book_id}`) ?? 0;
}

async function viewResellers(context: Context, rows: readonly ResellerRow[]): Promise<StaffResellerView[]> {
  const balanceOf = await balancesOf(context, rows);
  const this_month = monthBefore(context.now(), 0);
  const since = monthBefore(context.now(), MONTHS);
  const months = await listMonths(context.db, { org_ids: rows.map(({ id }) => id), since });
  return rows.map(({ shard, live_book_id, created_at, ...row }) => {
    const own = months.filter(({ org_id }) => org_id === row.id);
    const sum = (of: typeof own) => of.reduce((all, one) => all + earnedOf(one), 0);
    return {
      ...row,
      created_at: created_at.toISOString(),
      available_micro_usd: balanceOf({ shard, live_book_id }),
      earned_micro: sum(own.filter(({ month }) => month === this_month)),
      credited_micro: sum(own.filter(({ month, status }) => month !== this_month && status === 'credited')),
    };
  });
}

export const listResellersOperation = operation({
  name: 'staff.resellers.list',
  method: 'GET',
  path: '/staff/resellers',
  summary: 'List the resellers with how their customers stand and what they earn, newest first',
  audience: readers,
  input: Type.Object(pageInput(200)),
  output: pageOf(StaffResellerView),
  errors: [],
  example: { object: 'list', data: [example], next_cursor: '' },
  run: (context, { cursor, limit }) =>
    context.transaction(async (context) => {
      await writeAudit(context, { action: 'staff.resellers.list', org_id: null });
      const { rows, next_cursor, cursorAt } = await walkPage(context, {
        bound: 'staff.resellers',
        cursor,
        limit: limit ?? PAGE,
        read: (after, limit) => listResellers(context.db, { after, limit }),
        placeOf: ({ created_at, id }) => ({ at: created_at.getTime(), id }),
      });
      return page(await viewResellers(context, rows), next_cursor, cursorAt);
    }),
});

export const listStaffCustomersOperation = operation({
  name: 'staff.resellers.customers.list',
  method: 'GET',
  path: '/staff/resellers/:id/customers',
  summary: 'List the customers of a reseller with what they pay and have, newest first',
  audience: readers,
  input: Type.Object({ id: Type.String(), ...pageInput(200) }),
  output: pageOf(StaffCustomerView),
  errors: [],
  example: {
    ...{ object: 'list', next_cursor: '' },
    data: [
      {
        ...{ id: 'org_01KACZ3V8S6T5R4Q3P2N1M0K9K', slug: 'northwind', name: 'Northwind', status: 'active' },
        ...{ available_micro_usd: 24_998_747, created_at: '2026-11-21T10:00:00.000Z' },
        ...{ suspended_by_parent: false, tier_name: 'Standard', markup_bps: 1_250 },
      },
    ],
  },
  run: (context, { id, cursor, limit }) =>
    context.transaction(async (context) => {
      const org = await getStaffOrg(context, id);
      await writeAudit(context, { action: 'staff.resellers.customers.list', ...auditTargetOf(org) });
      const { rows, next_cursor, cursorAt } = await walkPage(context, {
        bound: `staff.resellers.customers ${org.id}`,
        cursor,
        limit: limit ?? PAGE,
        read: (after, limit) => listCustomers(context.db, { org_id: org.id, after, limit }),
        placeOf: (row) => ({ at: row.created_at.getTime(), id: row.id }),
      });
      const balanceOf = await balancesOf(context, rows);
      const data = rows.map(({ shard, live_book_id, created_at, ...row }) => ({
        ...row,
        available_micro_usd: balanceOf({ shard, live_book_id }),
        created_at: created_at.toISOString(),
      }));
      return page(data, next_cursor, cursorAt);
    }),
});

/** The months of a reseller, newest first; each is the sum over its customers. */
async function monthsOf(context: Context, org_id: Id<'org'>): Promise<StaffMonthView[]> {
  const since = monthBefore(context.now(), MONTHS);
  const rows = await listMonths(context.db, { org_ids: [org_id], since });
  return [...new Set(rows.map(({ month }) => month))].map((month) => {
    const own = rows.filter((row) => row.month === month);
    const sum = (name: 'usage_micro' | 'markup_micro' | 'written_off_micro') =>
      own.reduce((all, row) => all + row[name], 0);
    return {
      month: month.slice(0, 7),
      customers: own.length,
      ...{ usage_micro: sum('usage_micro'), markup_micro: sum('markup_micro') },
      written_off_micro: sum('written_off_micro'),
      accrued_micro: own.reduce((all, row) => all + earnedOf(row), 0),
      is_open: own.some(({ status }) => status === 'open'),
    };
  });
}

export const listStaffMonthsOperation = operation({
  name: 'staff.resellers.months.list',
  method: 'GET',
  path: '/staff/resellers/:id/months',
  summary: `Read what a reseller earned in this month and the ${MONTHS} before, newest first`,
  audience: readers,
  input: Type.Object({ id: Type.String() }),
  output: listOf(StaffMonthView),
  errors: [],
  example: {
    object: 'list',
    data: [
      {
        ...{ month: '2026-11', customers: 12, usage_micro: 2_813, markup_micro: 313 },
        ...{ written_off_micro: 0, accrued_micro: 313, is_open: true },
      },
    ],
  },
  run: (context, { id }) =>
    context.transaction(async (context) => {
      const org = await getStaffOrg(context, id);
      await writeAudit(context, { action: 'staff.resellers.months.list', ...auditTargetOf(org) });
      return { object: 'list' as const, data: await monthsOf(context, org.id) };
    }),
});
