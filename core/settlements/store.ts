// SQL of the comparison with rails' books.
import type { Db, Id } from '../kernel/index.ts';
import type { Payout, RailName, SettledLine } from '../topups/index.ts';
import type { Comparison, Counts, Finding } from './types.ts';

const columns = `rail, to_char(day, 'YYYY-MM-DD') as day, asked_at, compared_at, failed_at, failure, counts, findings`;

/** The comparisons of a rail with a day from `from` to `to`, both included. */
export async function comparisonsOf(
  db: Db,
  args: { rail: RailName; from: string; to: string },
): Promise<Comparison[]> {
  const { rows } = await db.query<Comparison>({
    name: 'settlements.of_days',
    text: `select ${columns} from rail_comparison where rail = $1 and day between $2 and $3 order by day`,
    values: [args.rail, args.from, args.to],
  });
  return rows;
}

/** The last day of a rail that was compared; null before the first. */
export async function lastCompared(db: Db, rail: RailName): Promise<string | null> {
  const { rows } = await db.query<{ day: string | null }>({
    name: 'settlements.last_compared',
    text: `select to_char(max(day), 'YYYY-MM-DD') as day from rail_comparison where rail = $1 and compared_at is not null`,
    values: [rail],
  });
  return rows[0]?.day ?? null;
}

/** Days that somebody asked for and that were not compared since, oldest question first. */
export async function askedDays(db: Db): Promise<Pick<Comparison, 'rail' | 'day'>[]> {
  const { rows } = await db.query<Pick<Comparison, 'rail' | 'day'>>({
    name: 'settlements.asked_days',
    text: `
      select rail, to_char(day, 'YYYY-MM-DD') as day from rail_comparison
       where asked_at > coalesce(greatest(compared_at, failed_at), '-infinity') order by asked_at`,
    values: [],
  });
  return rows;
}

/** Asks for the comparison of a day. */
export async function askForDay(db: Db, args: { rail: RailName; day: string; at: Date }): Promise<void> {
  await db.query({
    name: 'settlements.ask',
    text: `
      insert into rail_comparison (rail, day, asked_at) values ($1, $2, $3)
      on conflict (rail, day) do update set asked_at = excluded.asked_at`,
    values: [args.rail, args.day, args.at],
  });
}

/** Notes what a day's comparison found. */
export async function noteCompared(
  db: Db,
  args: { rail: RailName; day: string; counts: Counts; findings: readonly Finding[]; at: Date },
): Promise<void> {
  await db.query({
    name: 'settlements.note_compared',
    text: `
      insert into rail_comparison (rail, day, compared_at, counts, findings) values ($1, $2, $3, $4, $5)
      on conflict (rail, day) do update
         set compared_at = excluded.compared_at, counts = excluded.counts, failed_at = null, failure = null,
             -- What was booked on an earlier look stays to be seen.
             findings = (select coalesce(jsonb_agg(f), '[]') from jsonb_array_elements(rail_comparison.findings) f
                          where f->>'kind' like any (array['%\\_booked', '%\\_taken'])) || excluded.findings`,
    values: [args.rail, args.day, args.at, JSON.stringify(args.counts), JSON.stringify(args.findings)],
  });
}

/** Notes that a day could not be compared, and why. */
export async function noteFailed(
  db: Db,
  args: { rail: RailName; day: string; failure: string; at: Date },
): Promise<void> {
  await db.query({
    name: 'settlements.note_failed',
    text: `
      insert into rail_comparison (rail, day, failed_at, failure) values ($1, $2, $3, $4)
      on conflict (rail, day) do update set failed_at = excluded.failed_at, failure = excluded.failure`,
    values: [args.rail, args.day, args.at, args.failure],
  });
}

/** When the first top-up of a rail was made; null where there is none. */
export async function firstTopupAt(db: Db, rail: RailName): Promise<Date | null> {
  const { rows } = await db.query<{ at: Date | null }>({
    name: 'settlements.first_topup',
    text: 'select min(created_at) as at from topup where gateway = $1',
    values: [rail],
  });
  return rows[0]?.at ?? null;
}

/** Those of these payments that a top-up has, or that go back because another one was first. */
export async function knownPayments(
  db: Db,
  args: { rail: RailName; refs: readonly string[] },
): Promise<Set<string>> {
  const { rows } = await db.query<{ ref: string }>({
    name: 'settlements.known_payments',
    text: `
      select payment_ref as ref from topup where gateway = $1 and payment_ref = any ($2)
      union select ref from rail_task where rail = $1 and kind = 'refund_payment' and ref = any ($2)`,
    values: [args.rail, args.refs],
  });
  return new Set(rows.map(({ ref }) => ref));
}

/** What is stored of these refunds or disputes of a rail: the state that it last reported. */
export async function knownStates(
  db: Db,
  args: { of: 'refund' | 'dispute'; rail: RailName; refs: readonly string[] },
): Promise<Map<string, string>> {
  const { rows } = await db.query<{ ref: string; status: string }>({
    name: `settlements.known_${args.of}s`,
    text: `select ref, status from rail_${args.of} where rail = $1 and ref = any ($2)`,
    values: [args.rail, args.refs],
  });
  return new Map(rows.map(({ ref, status }) => [ref, status]));
}

/** Whether the staff have been asked about a payment that leads to no top-up. */
export async function isPaymentAsked(
  db: Db,
  args: { rail: RailName; payment_ref: string },
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'settlements.payment_asked',
    text: `
      select 1 from staff_item
       where kind in ('unknown_topup', 'names_disagree') and subject like $1 || ' %'
         and details->>'payment_ref' = $2 limit 1`,
    values: [args.rail, args.payment_ref],
  });
  return (rowCount ?? 0) > 0;
}

/** A paid top-up, as far as a settlement can differ from it. */
export interface PaidTopup {
  readonly id: Id<'topup'>;
  readonly gateway_ref: string | null;
  readonly payment_ref: string;
  readonly total_minor: number;
  readonly fee_minor: number | null;
  readonly currency: string;
}

const paid = 'id, gateway_ref, payment_ref, total_minor, fee_minor, currency';

/** The paid top-ups of these payments, by payment. */
export async function paidOf(
  db: Db,
  args: { rail: RailName; refs: readonly string[] },
): Promise<Map<string, PaidTopup>> {
  const { rows } = await db.query<PaidTopup>({
    name: 'settlements.paid_of',
    text: `select ${paid} from topup where gateway = $1 and payment_ref = any ($2) and status = 'paid'`,
    values: [args.rail, args.refs],
  });
  return new Map(rows.map((row) => [row.payment_ref, row]));
}

/** What our books say of a refund or a dispute of a rail. */
export interface Known {
  readonly topup_id: Id<'topup'>;
  readonly amount_minor: number;
  readonly currency: string;
}

/** Refunds or disputes of ours that a rail calls so, by its name. */
export async function knownOf(
  db: Db,
  args: { of: 'refund' | 'dispute'; rail: RailName; refs: readonly string[] },
): Promise<Map<string, Known>> {
  const { of, rail, refs } = args;
  const amount = of === 'refund' ? 'total_minor' : 'amount_minor';
  const { rows } = await db.query<Known & { ref: string }>({
    name: `settlements.${of}s_of`,
    text: `
      select gateway_ref as ref, topup_id, ${amount} as amount_minor, currency from ${of}
       where gateway = $1 and gateway_ref = any ($2)`,
    values: [rail, refs],
  });
  return new Map(rows.map(({ ref, ...known }) => [ref, known]));
}

/** Top-ups of a rail that were paid from `from` on and before `to`. */
export async function paidBetween(
  db: Db,
  args: { rail: RailName; from: Date; to: Date },
): Promise<PaidTopup[]> {
  const { rows } = await db.query<PaidTopup>({
    name: 'settlements.paid_between',
    text: `
      select ${paid} from topup
       where gateway = $1 and paid_at >= $2 and paid_at < $3 and status = 'paid' order by paid_at, id`,
    values: [args.rail, args.from, args.to],
  });
  return rows;
}

/** Those of these lines that are stored, as `kind ref`. */
export async function knownLines(
  db: Db,
  args: { rail: RailName; refs: readonly string[] },
): Promise<Set<string>> {
  const { rows } = await db.query<{ name: string }>({
    name: 'settlements.known_lines',
    text: `select kind || ' ' || ref as name from settlement_line where rail = $1 and ref = any ($2)`,
    values: [args.rail, args.refs],
  });
  return new Set(rows.map(({ name }) => name));
}

/** Stores a line; false when it was stored before. */
export async function insertLine(
  db: Db,
  args: {
    rail: RailName;
    line: SettledLine;
    topup_id: Id<'topup'> | null;
    extra_fee_minor: number;
    at: Date;
  },
): Promise<boolean> {
  const { rail, line, topup_id, extra_fee_minor, at } = args;
  const { rowCount } = await db.query({
    name: 'settlements.insert_line',
    text: `
      insert into settlement_line (rail, kind, ref, source_ref, payment_ref, topup_id, amount_minor, fee_minor,
                                   extra_fee_minor, currency, payout_ref, settled_at, seen_at)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
      on conflict (rail, kind, ref) do nothing`,
    values: [
      rail,
      line.kind,
      line.ref,
      line.source_ref,
      line.payment_ref,
      topup_id,
      line.amount_minor,
      line.fee_minor,
      extra_fee_minor,
      line.currency,
      line.payout_ref,
      line.at,
      at,
    ],
  });
  return rowCount === 1;
}

/** Stores a payout, or what has become of it. */
export async function keepPayout(db: Db, args: { rail: RailName; payout: Payout }): Promise<void> {
  const { ref, amount_minor, currency, state, bank_ref, at } = args.payout;
  await db.query({
    name: 'settlements.keep_payout',
    text: `
      insert into rail_payout (rail, ref, amount_minor, currency, state, bank_ref, paid_at)
      values ($1, $2, $3, $4, $5, $6, $7)
      on conflict (rail, ref) do update set state = excluded.state, bank_ref = excluded.bank_ref`,
    values: [args.rail, ref, amount_minor, currency, state, bank_ref, at],
  });
}

/** What the lines of a payout come to, less their fees. */
export async function sumLines(db: Db, args: { rail: RailName; payout_ref: string }): Promise<number> {
  const { rows } = await db.query<{ sum: number }>({
    name: 'settlements.sum_lines',
    text: `
      select coalesce(sum(amount_minor - fee_minor), 0)::bigint as sum from settlement_line
       where rail = $1 and payout_ref = $2`,
    values: [args.rail, args.payout_ref],
  });
  return rows[0]?.sum ?? 0;
}

/** A payment or refund that the rail has had long enough to settle. */
interface Unsettled {
  readonly of: 'payment' | 'refund';
  readonly ref: string;
  readonly topup_id: Id<'topup'>;
  readonly total_minor: number;
  readonly currency: string;
}

/**
 * Payments and refunds that ended from `from` on and before `to` and are in no payout; none where the rail has itemized no payout
 * since.
 */
export async function unsettledBetween(
  db: Db,
  args: { rail: RailName; from: Date; to: Date },
): Promise<Unsettled[]> {
  const { rows } = await db.query<Unsettled>({
    name: 'settlements.unsettled',
    text: `
      select * from (
        select 'payment' as of, t.payment_ref as ref, t.id as topup_id, t.total_minor, t.currency
          from topup t
         where t.gateway = $1 and t.paid_at >= $2 and t.paid_at < $3 and t.status = 'paid'
           and not exists (select 1 from settlement_line l
                            where l.rail = $1 and l.kind = 'payment' and l.payment_ref = t.payment_ref)
        union all
        select 'refund', r.gateway_ref, r.topup_id, r.total_minor, r.currency
          from refund r
         where r.gateway = $1 and r.settled_at >= $2 and r.settled_at < $3 and r.status = 'refunded'
           and not exists (select 1 from settlement_line l
                            where l.rail = $1 and l.kind = 'refund' and l.source_ref = r.gateway_ref)) u
       -- What was settled before the first day that was compared is not known.
       where $2 >= (select min(c.day) from rail_comparison c where c.rail = $1 and c.compared_at is not null)
         and exists (select 1 from rail_payout p
                      where p.rail = $1 and p.state = 'paid' and p.paid_at >= $3
                        and exists (select 1 from settlement_line l where l.rail = $1 and l.payout_ref = p.ref))
       order by of, ref`,
    values: [args.rail, args.from, args.to],
  });
  return rows;
}
