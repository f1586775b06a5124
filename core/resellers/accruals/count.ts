// Counts what customers of resellers spent and what of it is markup, and credits it on the third of the next month. Each
// entry and each range of a lot is counted once: how far, is written in the transaction that adds it.
import { selectTierPrices } from '../../catalog/index.ts';
import { type Context, microUsd } from '../../kernel/index.ts';
import {
  creditOutcome,
  type EntryKind,
  meteredUsage,
  orderCredit,
  readCharged,
  readLotUse,
} from '../../ledger/index.ts';
import { findOrg, type Org } from '../../orgs/index.ts';
import { price } from '../../pricing/index.ts';
import { addMoved, type Moved } from '../statement/store.ts';
import {
  type Accrual,
  addToMonth,
  type CountedChild,
  endMonth,
  listCounted,
  listCountedLots,
  listDueAccruals,
  lockAccrual,
  lockPlace,
  movePlace,
  noteEntry,
  putCountedLot,
} from './store.ts';

const DAY_MS = 86_400_000;
/** Entries that one transaction counts. */
const ENTRIES = 1_000;
const CHILDREN = 200;
/** The day of the next month on which a month is credited, UTC: late settles are in by then. */
const CREDIT_DAY = 3;
/** What is credited ends so long after. */
const CREDIT_DAYS = 365;

type Figures = Parameters<typeof addToMonth>[1]['figures'];
const NOTHING: Figures = {
  ...{ usage_micro: 0, markup_micro: 0, burned_micro: 0, paid_micro: 0, written_off_micro: 0 },
};

function monthOfTime(at: Date): string {
  return `${at.toISOString().slice(0, 7)}-01`;
}

function monthAfter(month: string): string {
  const [year, number] = month.split('-').map(Number) as [number, number];
  return new Date(Date.UTC(year, number, 1)).toISOString().slice(0, 10);
}

/**
 * What a month earns: the markup, as far as the credit that paid it was paid or given by the reseller, less what was
 * written off; never below zero. Pure.
 */
export function accrualOf(month: Omit<Figures, 'usage_micro'>): number {
  const { markup_micro, burned_micro, paid_micro, written_off_micro } = month;
  if (burned_micro === 0) return 0;
  const shared = (BigInt(markup_micro) * BigInt(paid_micro)) / BigInt(burned_micro);
  return Math.max(0, Number(shared) - written_off_micro);
}

const NONE: Moved = {
  ...{
    charged_micro: 0,
    sold_micro: 0,
    refunded_micro: 0,
    given_micro: 0,
    reclaimed_micro: 0,
    other_micro: 0,
  },
};
/** Under which figure entries of a kind count, and with which sign; all others under `other_micro` as they are. */
const FIGURES: Partial<Record<EntryKind, readonly [keyof Moved, 1 | -1]>> = {
  settle: ['charged_micro', -1],
  topup: ['sold_micro', 1],
  refund: ['refunded_micro', -1],
  refund_reversal: ['refunded_micro', -1],
  allocation_in: ['given_micro', 1],
  allocation_reclaim: ['reclaimed_micro', -1],
};

/** What entries moved, by month. Pure. */
function movedBy(
  entries: readonly { readonly created_at: Date; readonly kind: EntryKind; readonly amount_micro: number }[],
): ReadonlyMap<string, Moved> {
  const months = new Map<string, Moved>();
  for (const { created_at, kind, amount_micro } of entries) {
    const month = monthOfTime(created_at);
    const [name, sign] = FIGURES[kind] ?? (['other_micro', 1] as const);
    const before = months.get(month) ?? NONE;
    months.set(month, { ...before, [name]: before[name] + sign * amount_micro });
  }
  return months;
}

function add(to: Map<string, Figures>, month: string, more: Partial<Figures>): void {
  const sum = { ...(to.get(month) ?? NOTHING) };
  for (const [name, value] of Object.entries(more)) sum[name as keyof Figures] += value;
  to.set(month, sum);
}

/** Adds the entries after the place; returns whether there are more. */
async function countEntries(
  context: Context,
  child: CountedChild,
  sums: Map<string, Figures>,
): Promise<boolean> {
  const after_seq = await lockPlace(context.db, child);
  const ledger = context.shards.at(child.shard);
  const entries = await readCharged(ledger, { book_id: child.live_book_id, after_seq, limit: ENTRIES });
  const last = entries.at(-1);
  if (last === undefined) return false;
  const numbers = [...new Set(entries.flatMap(({ call }) => call?.price_no ?? []))];
  const bases = new Map((await selectTierPrices(context.db, numbers)).map((one) => [one.price_no, one.base]));
  for (const { created_at, written_off_micro, call } of entries) {
    const month = monthOfTime(created_at);
    if (written_off_micro > 0) add(sums, month, { written_off_micro });
    if (call === null) continue;
    const base = bases.get(call.price_no);
    const { usage, insured } = meteredUsage(call);
    const at_catalog = base === undefined || insured ? null : price(usage, base).total_micro_usd;
    const usage_micro = call.cost_micro_usd;
    add(sums, month, { usage_micro, markup_micro: at_catalog === null ? 0 : usage_micro - at_catalog });
  }
  for (const [month, moved] of movedBy(entries)) await addMoved(context.db, { child, month, moved });
  await movePlace(context.db, { child_org_id: child.id, seq: last.seq });
  return entries.length === ENTRIES;
}

/** Adds what calls used of each lot beyond what is counted. */
async function countLots(context: Context, child: CountedChild, sums: Map<string, Figures>): Promise<void> {
  const counted = await listCountedLots(context.db, child.id);
  const ledger = context.shards.at(child.shard);
  for (const use of await readLotUse(ledger, { book_id: child.live_book_id, counted })) {
    const { lot_id, month, is_paid, used_micro, burned_to_micro } = use;
    if (used_micro > 0) add(sums, month, { burned_micro: used_micro, paid_micro: is_paid ? used_micro : 0 });
    await putCountedLot(context.db, { child, lot_id, counted_micro: burned_to_micro });
  }
}

/** Counts what is new in the book of a customer; concurrent counters take turns, and none counts twice. */
async function countChild(context: Context, child: CountedChild): Promise<void> {
  for (let has_more = true; has_more; ) {
    has_more = await context.transaction(async (context) => {
      const sums = new Map<string, Figures>();
      const more = await countEntries(context, child, sums);
      await countLots(context, child, sums);
      for (const [month, figures] of sums) {
        // A clock that was wrong may name a month that is credited: it then counts for the next that is open.
        let open = month;
        while (!(await addToMonth(context.db, { child, month: open, figures }))) open = monthAfter(open);
      }
      return more;
    });
  }
}

const referenceOf = ({ child_org_id, month }: Pick<Accrual, 'child_org_id' | 'month'>) =>
  `${month.slice(0, 7)} ${child_org_id}`;

/** Credits one month of a customer to its reseller, once. */
async function creditMonth(context: Context, accrual: Accrual, parent: Org): Promise<void> {
  await context.transaction(async (context) => {
    const open = await lockAccrual(context.db, accrual);
    if (open?.status !== 'open') return;
    const accrued_micro = accrualOf(open);
    await endMonth(context.db, { ...accrual, accrued_micro });
    if (accrued_micro === 0) return;
    await orderCredit(context, parent.shard, {
      ...{ book_id: parent.live_book_id, kind: 'accrual', granted: true },
      ...{ amount_micro_usd: microUsd(accrued_micro), ref_type: 'accrual', ref_id: referenceOf(accrual) },
      expires_at: new Date(context.now().getTime() + CREDIT_DAYS * DAY_MS),
    });
  });
  const reference = `accrual accrual ${referenceOf(accrual)}`;
  const booked = await creditOutcome(context, { book_id: parent.live_book_id, reference });
  if (booked !== null) await noteEntry(context.db, { ...accrual, ledger_seq: booked.seq });
}

/** Counts what is new in the books of all customers; returns how many there are. A job. */
export async function countAccruals(context: Context): Promise<number> {
  let counted = 0;
  for (let after = ''; ; ) {
    const children = await listCounted(context.db, { after, limit: CHILDREN });
    for (const child of children) await countChild(context, child);
    counted += children.length;
    const last = children.at(-1);
    if (last === undefined || children.length < CHILDREN) return counted;
    after = last.id;
  }
}

/** Credits the months that have ended, from the third of the next on; returns how many it looked at. A job. */
export async function creditAccruals(context: Context, limit = 200): Promise<number> {
  const now = context.now();
  const this_month = monthOfTime(now);
  // Before the third the last month waits with this one.
  const before =
    now.getUTCDate() >= CREDIT_DAY ? this_month : monthOfTime(new Date(Date.parse(this_month) - DAY_MS));
  const due = await listDueAccruals(context.db, { before, limit });
  for (const { shard, live_book_id, ...accrual } of due) {
    const parent = await findOrg(context.db, accrual.org_id);
    if (parent === null) continue;
    const child = { id: accrual.child_org_id, parent_org_id: accrual.org_id, shard, live_book_id };
    // All of the month is in before it is closed.
    if (accrual.status === 'open') await countChild(context, child);
    await creditMonth(context, accrual, parent);
  }
  return due.length;
}
