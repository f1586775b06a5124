// A month of an organization over the real ledger: calls that end at once, hours later, after midnight or days later, and
// every way in which credit moves, with an account of its own of what each day must come to.
import { type Id, microUsd, newRequestId, type RequestId } from '@svc/core/kernel/index.ts';
import { type CreditKind, type DebitKind, kindNumber, type RESTORE_KINDS } from '@svc/core/ledger/kinds.ts';
import { chargeBack, chargePlan, credit, debit, expireLots, restore } from '@svc/core/ledger/store.ts';
import { holdOf, settleOf } from '@svc/core/ledger/testing/testing.ts';
import { type Draw, drawFrom } from '../crash/draw.ts';
import type { Tenant } from '../registry/harness.ts';
import { rowOf } from '../registry/rows.ts';
import { clockAt, type World } from './world.ts';

const DAY_MS = 86_400_000;
/** Turns of a day in which calls come and credit moves. */
const TURNS = 4;
/** Calls that come together. */
const TOGETHER = 250;
/** Twice what the calls of a day cost, micro-USD. */
const SPENT_A_DAY = 6_000_000;
/** A settle is looked for so long after its call; later ones are a variance on purpose. */
const LATE_DAYS_MAX = 6;

/** What a day must come to by what was done on it. */
export interface DayAccount {
  added_micro: number;
  charged_micro: number;
  other_debits_micro: number;
  requests: number;
}

interface OpenCall {
  readonly request_id: RequestId;
  readonly cost: number;
  /** Turns of the month in which it began, and from which on it is settled. */
  readonly begun: number;
  readonly due: number;
}

interface Month {
  readonly world: World;
  readonly tenant: Tenant;
  /** Of calls, and apart from it of what moves besides, so that the number of calls changes nothing of that. */
  readonly draw: Draw;
  readonly moves: Draw;
  readonly subject: { book_id: number; key_no: number; project_no: number };
  readonly days: DayAccount[];
  /** Paid lots with what was bought, for refunds and disputes. */
  readonly lots: { lot_id: Id<'lot'>; left: number }[];
  /** Of a call, so that a day costs about the same however many it has: some credit is left to end unused. */
  readonly cost_max: number;
  open: OpenCall[];
  serial: number;
  expired: number;
  undone: number;
  /** Calls that were settled on a later day than they began. */
  late: number;
}

/** UTC midnight of day `n` of the month, from 0. */
export function midnight(first: string, n: number): number {
  return Date.parse(`${first}T00:00:00Z`) + n * DAY_MS;
}

async function begin(month: Month, turn: number, count: number): Promise<void> {
  const { world, draw, subject } = month;
  const calls = Array.from({ length: count }, (): OpenCall => {
    const lasts = draw.weighted({ now: 90, hours: 6, midnight: 3, days: 1 });
    const turns = { now: 0, hours: 1, midnight: TURNS, days: draw.int(2, LATE_DAYS_MAX) * TURNS }[lasts];
    return { request_id: newRequestId(), cost: draw.int(1, month.cost_max), begun: turn, due: turn + turns };
  });
  for (let at = 0; at < calls.length; at += TOGETHER) {
    const held = await Promise.all(
      calls
        .slice(at, at + TOGETHER)
        .map(({ request_id, cost }) => world.ledger.hold(holdOf(subject, cost, request_id))),
    );
    const refused = held.find(({ status }) => status !== 'ok');
    if (refused !== undefined) throw new Error(`a hold of the month was refused: ${refused.status}`);
  }
  month.open.push(...calls);
}

/** Settles what is due: the ledger charges it, and its row is written. */
async function end(month: Month, turn: number, day: DayAccount): Promise<void> {
  const { world, tenant, subject } = month;
  const due = month.open.filter((call) => call.due <= turn);
  month.open = month.open.filter((call) => call.due > turn);
  for (let at = 0; at < due.length; at += TOGETHER) {
    await Promise.all(
      due
        .slice(at, at + TOGETHER)
        .map(({ request_id, cost }) => world.ledger.settle(settleOf(subject, request_id, cost))),
    );
  }
  for (const { request_id, cost, begun } of due) {
    world.harness.request_log.write(rowOf(tenant, { request_id, cost_micro: cost, attempt_rows: [] }));
    day.charged_micro += cost;
    day.requests++;
    if (Math.floor(begun / TURNS) !== Math.floor(turn / TURNS)) month.late++;
  }
  await world.harness.request_log.flush();
}

function reference(month: Month, ref_type: 'topup' | 'staff' | 'gift' | 'redemption' | 'allocation') {
  return { ref_type, ref_id: `month-${++month.serial}` } as const;
}

async function add(
  month: Month,
  day: DayAccount,
  what: { kind: CreditKind; micro: number; ref_type: Parameters<typeof reference>[1]; lives_days?: number },
): Promise<Id<'lot'>> {
  const { kind, micro, ref_type, lives_days } = what;
  const { lot_id } = await credit(month.world.harness.pool, {
    ...{ book_id: month.subject.book_id, kind, amount_micro_usd: microUsd(micro) },
    granted: kind !== 'topup',
    expires_at:
      lives_days === undefined ? null : new Date(month.world.context.now().getTime() + lives_days * DAY_MS),
    ...reference(month, ref_type),
  });
  day.added_micro += micro;
  return lot_id;
}

interface Taking {
  readonly kind: DebitKind;
  readonly micro: number;
  readonly ref_type: 'refund' | 'gift' | 'allocation' | 'dispute' | 'staff';
  readonly lot_id?: Id<'lot'>;
}

/** Takes credit, as far as it is there; returns what names the debit. */
async function take(month: Month, day: DayAccount, { kind, micro, ref_type, lot_id }: Taking) {
  const named = { ref_type, ref_id: `month-${++month.serial}` } as const;
  const taken = await debit(month.world.harness.pool, {
    ...{ book_id: month.subject.book_id, kind, amount_micro_usd: microUsd(micro), short: 'take_less' },
    ...named,
    ...(lot_id === undefined ? {} : { lot_id }),
  });
  if (taken.status === 'taken') day.other_debits_micro += taken.taken_micro_usd;
  return named;
}

async function putBack(
  month: Month,
  day: DayAccount,
  debit_kind: keyof typeof RESTORE_KINDS,
  named: Awaited<ReturnType<typeof take>>,
): Promise<void> {
  const { book_id } = month.subject;
  const back = await restore(month.world.harness.pool, { book_id, debit_kind, ...named });
  if (back.status === 'restored') day.added_micro += back.amount_micro_usd;
}

/** A dispute is lost: what it held goes back and is taken for good, as far as it is there. */
async function loseDispute(
  month: Month,
  day: DayAccount,
  lost: { micro: number; lot_id: Id<'lot'>; named: Awaited<ReturnType<typeof take>> },
): Promise<void> {
  const { book_id } = month.subject;
  const { micro, lot_id, named } = lost;
  await chargeBack(month.world.harness.pool, {
    ...{ book_id, amount_micro_usd: microUsd(micro), lot_id },
    ...named,
  });
  const [moved] = await month.world.rows<{ back: number; gone: number }>(
    `select coalesce(sum(amount) filter (where amount > 0), 0)::bigint as back,
            coalesce(-sum(amount) filter (where kind = $3), 0)::bigint as gone
       from ledger.entry where book_id = $1 and ref_type = 'dispute' and ref_id = $2`,
    [book_id, named.ref_id, kindNumber('chargeback')],
  );
  day.added_micro += moved?.back ?? 0;
  day.other_debits_micro += moved?.gone ?? 0;
}

const fates = ['refunded', 'refund came back', 'dispute won', 'dispute lost'] as const;

/** A refund or a dispute of a part of what was bought; each fate has its turn. */
async function undoPurchase(month: Month, day: DayAccount): Promise<void> {
  const { moves } = month;
  const fate = fates[month.undone++ % fates.length] as (typeof fates)[number];
  const lot = moves.pick(month.lots);
  const micro = Math.min(lot.left, moves.int(1, 4_000_000));
  if (micro < 1) return;
  const { lot_id } = lot;
  const is_refund = fate.startsWith('refund');
  const named = is_refund
    ? await take(month, day, { kind: 'refund', micro, ref_type: 'refund', lot_id })
    : await take(month, day, { kind: 'dispute_hold', micro, ref_type: 'dispute', lot_id });
  if (fate === 'refund came back') return putBack(month, day, 'refund', named);
  if (fate === 'dispute won') return putBack(month, day, 'dispute_hold', named);
  lot.left -= micro;
  if (fate === 'dispute lost') await loseDispute(month, day, { micro, lot_id, named });
}

/** What moves credit besides calls, purchases and what is undone of them. */
async function giveAndTake(month: Month, day: DayAccount): Promise<void> {
  const { moves } = month;
  await add(month, day, { kind: 'grant', micro: moves.int(1, 900_000), ref_type: 'staff', lives_days: 3 });
  await add(month, day, { kind: 'checkin', micro: 10_000, ref_type: 'staff', lives_days: 1 });
  await add(month, day, { kind: 'redeem', micro: 5_000_000, ref_type: 'redemption', lives_days: 20 });
  await add(month, day, { kind: 'gift_redeem', micro: moves.int(1, 2_000_000), ref_type: 'gift' });
  await add(month, day, { kind: 'allocation_in', micro: moves.int(1, 500), ref_type: 'allocation' });
  await add(month, day, { kind: 'accrual', micro: moves.int(1, 500), ref_type: 'allocation' });
  const gift = await take(month, day, { kind: 'gift', micro: moves.int(1, 3_000_000), ref_type: 'gift' });
  if (moves.unit() < 0.5) await putBack(month, day, 'gift', gift);
  await take(month, day, { kind: 'allocation_out', micro: moves.int(1, 9_000), ref_type: 'allocation' });
  await take(month, day, { kind: 'allocation_reclaim', micro: moves.int(1, 100), ref_type: 'allocation' });
  await take(month, day, { kind: 'adjustment', micro: moves.int(1, 100), ref_type: 'staff' });
}

/** The fee of a plan and the credit that it includes, for a week. */
async function payPlan(month: Month, day: DayAccount): Promise<void> {
  const { pool } = month.world.harness;
  const paid = await chargePlan(pool, {
    ...{ book_id: month.subject.book_id, ref_id: `month-${++month.serial}` },
    ...{ fee_micro_usd: microUsd(49_000_000), included_micro_usd: microUsd(45_000_000) },
    ends_at: new Date(month.world.context.now().getTime() + 7 * DAY_MS),
  });
  if (paid.status !== 'taken') throw new Error(`the plan of the month was not paid: ${paid.status}`);
  day.other_debits_micro += 49_000_000;
  day.added_micro += 45_000_000;
}

/** What credit ended on a day: by how much the ledger alone can say, and a fee books it too when it comes first. */
async function countExpired(month: Month, day: DayAccount): Promise<void> {
  const [row] = await month.world.rows<{ gone: number }>(
    'select coalesce(-sum(amount), 0)::bigint as gone from ledger.entry where book_id = $1 and kind = $2',
    [month.subject.book_id, kindNumber('expire')],
  );
  day.other_debits_micro += (row?.gone ?? 0) - month.expired;
  month.expired = row?.gone ?? 0;
}

async function runDay(month: Month, n: number, calls: number, morning: () => Promise<void>): Promise<void> {
  const day: DayAccount = { added_micro: 0, charged_micro: 0, other_debits_micro: 0, requests: 0 };
  month.days.push(day);
  for (let part = 0; part < TURNS; part++) {
    const turn = n * TURNS + part;
    // The last turn stands just before midnight: what it begins and does not end is settled on another day.
    const hour = [3.1, 10, 17, 23.9][part] as number;
    clockAt(new Date(midnight(FIRST, n) + hour * 3_600_000).toISOString());
    if (part === 0) {
      await morning();
      await expireLots(month.world.harness.pool);
      const lot_id = await add(month, day, { kind: 'topup', micro: 60_000_000, ref_type: 'topup' });
      month.lots.push({ lot_id, left: 60_000_000 });
      if (n % 7 === 0) await payPlan(month, day);
    }
    if (part === 1) await giveAndTake(month, day);
    if (part > 1) await undoPurchase(month, day);
    await begin(month, turn, Math.floor(calls / TURNS) + (part < calls % TURNS ? 1 : 0));
    await end(month, turn, day);
  }
  await countExpired(month, day);
}

/** The first day of the month. */
export const FIRST = '2026-10-01';

/**
 * Lives `days` days with `calls` calls in all; `morning` runs at the beginning of each. What was still running after the
 * last is settled on the days that follow, which are counted too.
 */
export async function liveMonth(
  world: World,
  tenant: Tenant,
  args: { days: number; calls: number; seed: number; morning: () => Promise<void> },
): Promise<{ days: readonly DayAccount[]; over: number; settled_late: number }> {
  const [key] = await world.rows<{ key_no: number }>('select key_no from api_key where id = $1', [
    tenant.key_id,
  ]);
  const subject = {
    ...{ book_id: tenant.org.live_book_id, key_no: key?.key_no ?? 0, project_no: tenant.live.live_no },
  };
  const month: Month = {
    ...{
      world,
      tenant,
      subject,
      draw: drawFrom(args.seed),
      moves: drawFrom(args.seed + 1),
      days: [],
      lots: [],
      open: [],
    },
    ...{
      serial: 0,
      expired: 0,
      undone: 0,
      late: 0,
      cost_max: Math.max(2, Math.floor((SPENT_A_DAY * args.days) / args.calls)),
    },
  };
  clockAt(new Date(midnight(FIRST, 0)).toISOString());
  const seed: DayAccount = { added_micro: 0, charged_micro: 0, other_debits_micro: 0, requests: 0 };
  month.lots.push({
    lot_id: await add(month, seed, { kind: 'topup', micro: 9_000_000_000, ref_type: 'topup' }),
    left: 9_000_000_000,
  });
  for (let n = 0; n < args.days; n++) {
    const calls = Math.floor(args.calls / args.days) + (n < args.calls % args.days ? 1 : 0);
    await runDay(month, n, calls, args.morning);
  }
  month.days[0]!.added_micro += seed.added_micro;
  const over = month.open.length;
  for (let n = args.days; month.open.length > 0; n++) await runDay(month, n, 0, args.morning);
  return { days: month.days, over, settled_late: month.late };
}
