// SQL of top-ups and quotes.
import type { Db, Id } from '../kernel/index.ts';
import type { RailName, Topup, TopupStatus } from './types.ts';

const columns = `
  t.id, t.org_id, t.book_id, t.gateway, t.gateway_ref, t.payment_ref, t.currency, t.amount_minor, t.tax_minor,
  t.total_minor, t.fee_minor, t.fx_day::text as fx_day, t.fx_rate, t.credits_micro, t.tax, t.method, t.status,
  t.source, t.invoice_id, i.number as invoice_number, t.lot_id, t.failure_code, t.failure_message,
  t.refunded_minor, t.refunded_credits_micro, t.disputed, t.mandate_id, t.attempt_no,
  t.checkout_url, t.created_at, t.expires_at, t.paid_at`;

type NewTopup = Pick<
  Topup,
  | 'id'
  | 'org_id'
  | 'book_id'
  | 'gateway'
  | 'currency'
  | 'amount_minor'
  | 'tax_minor'
  | 'total_minor'
  | 'fx_day'
  | 'fx_rate'
  | 'credits_micro'
  | 'tax'
  | 'source'
  | 'mandate_id'
  | 'attempt_no'
  | 'created_at'
  | 'expires_at'
>;

/** Inserts a pending top-up that no rail knows of yet. */
export async function insertTopup(db: Db, topup: NewTopup): Promise<void> {
  await db.query({
    name: 'topups.insert',
    text: `
      insert into topup (id, org_id, book_id, gateway, currency, amount_minor, tax_minor, total_minor, fx_day,
                         fx_rate, credits_micro, tax, source, created_at, updated_at, expires_at, mandate_id, attempt_no)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $14, $15, $16, $17)`,
    values: [
      topup.id,
      topup.org_id,
      topup.book_id,
      topup.gateway,
      topup.currency,
      topup.amount_minor,
      topup.tax_minor,
      topup.total_minor,
      topup.fx_day,
      topup.fx_rate,
      topup.credits_micro,
      JSON.stringify(topup.tax),
      topup.source,
      topup.created_at,
      topup.expires_at,
      topup.mandate_id,
      topup.attempt_no,
    ],
  });
}

/** A top-up; with `org_id` only that organization's. Null when there is none. */
export async function findTopup(
  db: Db,
  args: { id: Id<'topup'>; org_id: Id<'org'> | null },
): Promise<Topup | null> {
  const { rows } = await db.query<Topup>({
    name: 'topups.find',
    text: `
      select ${columns} from topup t left join invoice i on i.id = t.invoice_id
       where t.id = $1 and ($2::text is null or t.org_id = $2)`,
    values: [args.id, args.org_id],
  });
  return rows[0] ?? null;
}

/**
 * Locks a top-up until the transaction ends and returns it as it then is; null when there is none. First lock of every
 * booking. Two statements: one that waited for the lock would still see the document's table as it was before.
 */
export async function lockTopup(db: Db, id: Id<'topup'>): Promise<Topup | null> {
  await db.query({
    name: 'topups.lock',
    text: 'select 1 from topup where id = $1 for no key update',
    values: [id],
  });
  return findTopup(db, { id, org_id: null });
}

/** The top-ups that an event names in one way or another; at most three. */
export async function findNamed(
  db: Db,
  args: { rail: RailName; order_ref: string | null; topup_id: string | null; payment_ref: string | null },
): Promise<Pick<Topup, 'id' | 'gateway' | 'gateway_ref' | 'payment_ref'>[]> {
  const { rows } = await db.query<Pick<Topup, 'id' | 'gateway' | 'gateway_ref' | 'payment_ref'>>({
    name: 'topups.find_named',
    text: `
      select id, gateway, gateway_ref, payment_ref from topup where gateway = $1 and gateway_ref = $2
      union select id, gateway, gateway_ref, payment_ref from topup where id = $3
      union select id, gateway, gateway_ref, payment_ref from topup where gateway = $1 and payment_ref = $4`,
    values: [args.rail, args.order_ref, args.topup_id, args.payment_ref],
  });
  return rows;
}

/** The top-up whose order a rail calls so; null when there is none. */
export async function findTopupByOrder(
  db: Db,
  args: { rail: RailName; order_ref: string },
): Promise<Id<'topup'> | null> {
  const { rows } = await db.query<{ id: Id<'topup'> }>({
    name: 'topups.find_by_order',
    text: 'select id from topup where gateway = $1 and gateway_ref = $2',
    values: [args.rail, args.order_ref],
  });
  return rows[0]?.id ?? null;
}

/** Top-ups of `org_id`, newest first, strictly after `before`. */
export async function listTopups(
  db: Db,
  args: { org_id: Id<'org'>; before: { at: Date; id: string } | null; limit: number },
): Promise<Topup[]> {
  const { rows } = await db.query<Topup>({
    name: 'topups.list',
    text: `
      select ${columns} from topup t left join invoice i on i.id = t.invoice_id
       where t.org_id = $1 and ($2::timestamptz is null or (t.created_at, t.id) < ($2, $3))
       order by t.created_at desc, t.id desc limit $4`,
    values: [args.org_id, args.before?.at ?? null, args.before?.id ?? null, args.limit],
  });
  return rows;
}

/** How many top-ups an organization has open, made since `day`, and lost since `hour`. */
export async function countRecent(
  db: Db,
  args: { org_id: Id<'org'>; day: Date; hour: Date },
): Promise<{ pending: number; made: number; failed: number }> {
  const { rows } = await db.query<{ pending: number; made: number; failed: number }>({
    name: 'topups.count_recent',
    text: `
      select count(*) filter (where status = 'pending')::int as pending,
             count(*) filter (where created_at > $2)::int as made,
             count(*) filter (where status = 'failed' and failure_code <> 'rail_unavailable'
                                and updated_at > $3)::int as failed
        from topup where org_id = $1 and (status = 'pending' or created_at > $2 or updated_at > $3)`,
    values: [args.org_id, args.day, args.hour],
  });
  return rows[0]!;
}

/** Notes what the rail calls a top-up's order, and where it is paid; what is known stays. */
export async function nameOrder(
  db: Db,
  args: { id: Id<'topup'>; gateway_ref: string; checkout_url: string | null; at: Date },
): Promise<void> {
  await db.query({
    name: 'topups.name_order',
    text: `
      update topup set gateway_ref = $2, checkout_url = $3, updated_at = $4
       where id = $1 and gateway_ref is null`,
    values: [args.id, args.gateway_ref, args.checkout_url, args.at],
  });
}

/** Marks a locked top-up as paid, with all that was booked for it. */
export async function markPaid(
  db: Db,
  args: {
    id: Id<'topup'>;
    payment_ref: string;
    method: string | null;
    invoice_id: Id<'invoice'>;
    lot_id: Id<'lot'>;
    at: Date;
  },
): Promise<void> {
  await db.query({
    name: 'topups.mark_paid',
    text: `
      update topup
         set status = 'paid', payment_ref = $2, method = $3, invoice_id = $4, lot_id = $5, paid_at = $6,
             updated_at = $6, failure_code = null, failure_message = null
       where id = $1 and status <> 'paid'`,
    values: [args.id, args.payment_ref, args.method, args.invoice_id, args.lot_id, args.at],
  });
}

/** Moves a locked top-up to another unpaid status, with the reason when there is one. */
export async function moveTopup(
  db: Db,
  args: {
    id: Id<'topup'>;
    status: Exclude<TopupStatus, 'paid'>;
    payment_ref?: string;
    failure?: { readonly code: string; readonly message: string };
    at: Date;
  },
): Promise<void> {
  await db.query({
    name: 'topups.move',
    text: `
      update topup
         set status = $2, payment_ref = coalesce($3, payment_ref), failure_code = coalesce($4, failure_code),
             failure_message = coalesce($5, failure_message), updated_at = $6
       where id = $1 and status <> 'paid'`,
    values: [
      args.id,
      args.status,
      args.payment_ref ?? null,
      args.failure?.code ?? null,
      args.failure?.message ?? null,
      args.at,
    ],
  });
}

/** What people call the parts of a top-up: its organization, and its document where it has one. */
export interface TopupNames {
  readonly org_name: string;
  readonly invoice_number: string | null;
}

/** The names of these top-ups. */
export async function nameTopups(
  db: Db,
  ids: readonly Id<'topup'>[],
): Promise<ReadonlyMap<Id<'topup'>, TopupNames>> {
  if (ids.length === 0) return new Map();
  const { rows } = await db.query<TopupNames & { id: Id<'topup'> }>({
    name: 'topups.name',
    text: `
      select t.id, o.name as org_name, i.number as invoice_number
        from topup t join org o on o.id = t.org_id left join invoice i on i.id = t.invoice_id
       where t.id = any($1)`,
    values: [ids],
  });
  return new Map(rows.map(({ id, ...names }) => [id, names]));
}

/** Top-ups in review, oldest first, at most 200. */
export async function listInReview(db: Db): Promise<Topup[]> {
  const { rows } = await db.query<Topup>({
    name: 'topups.list_in_review',
    text: `
      select ${columns} from topup t left join invoice i on i.id = t.invoice_id
       where t.status = 'review' order by t.created_at, t.id limit 200`,
  });
  return rows;
}

/** Gives a top-up in review the price of what was paid for it. */
export async function repriceTopup(
  db: Db,
  args: Pick<Topup, 'id' | 'amount_minor' | 'tax_minor' | 'total_minor' | 'credits_micro' | 'tax'> & {
    at: Date;
  },
): Promise<void> {
  await db.query({
    name: 'topups.reprice',
    text: `
      update topup
         set amount_minor = $2, tax_minor = $3, total_minor = $4, credits_micro = $5, tax = $6, updated_at = $7
       where id = $1 and status <> 'paid'`,
    values: [
      args.id,
      args.amount_minor,
      args.tax_minor,
      args.total_minor,
      args.credits_micro,
      JSON.stringify(args.tax),
      args.at,
    ],
  });
}

/** Notes what the rail took of a paid top-up; the first figure stays. */
export async function noteFee(db: Db, args: { id: Id<'topup'>; fee_minor: number }): Promise<void> {
  await db.query({
    name: 'topups.note_fee',
    text: `update topup set fee_minor = $2 where id = $1 and fee_minor is null and status = 'paid'`,
    values: [args.id, args.fee_minor],
  });
}

/** Keeps the rate of a quote for an organization and an amount; a later quote replaces it. */
export async function keepQuote(
  db: Db,
  quote: {
    org_id: Id<'org'>;
    currency: string;
    amount_minor: number;
    fx_day: string;
    fx_rate: string;
    at: Date;
  },
): Promise<void> {
  await db.query({
    name: 'topups.keep_quote',
    text: `
      insert into topup_quote (org_id, currency, amount_minor, fx_day, fx_rate, quoted_at)
      values ($1, $2, $3, $4, $5, $6)
      on conflict (org_id, currency, amount_minor) do update
         set fx_day = excluded.fx_day, fx_rate = excluded.fx_rate, quoted_at = excluded.quoted_at`,
    values: [quote.org_id, quote.currency, quote.amount_minor, quote.fx_day, quote.fx_rate, quote.at],
  });
}

/** Forgets quotes that bind no more at `at`; returns how many. An hourly job. */
export async function purgeQuotes(db: Db, at: Date): Promise<number> {
  const { rowCount } = await db.query({
    name: 'topups.purge_quotes',
    text: `delete from topup_quote where quoted_at < $1::timestamptz - interval '1 hour'`,
    values: [at],
  });
  return rowCount;
}

/** The rate that a quote since `since` promised for this amount; null when there is none. */
export async function findQuote(
  db: Db,
  args: { org_id: Id<'org'>; currency: string; amount_minor: number; since: Date },
): Promise<{ fx_day: string; fx_rate: string } | null> {
  const { rows } = await db.query<{ fx_day: string; fx_rate: string }>({
    name: 'topups.find_quote',
    text: `
      select fx_day::text as fx_day, fx_rate from topup_quote
       where org_id = $1 and currency = $2 and amount_minor = $3 and quoted_at >= $4`,
    values: [args.org_id, args.currency, args.amount_minor, args.since],
  });
  return rows[0] ?? null;
}

/** Whether an organization has ever paid. */
export async function hasPaid(db: Db, org_id: Id<'org'>): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'topups.has_paid',
    text: 'select 1 from topup where org_id = $1 and paid_at is not null limit 1',
    values: [org_id],
  });
  return (rowCount ?? 0) > 0;
}

/** Top-ups of an organization that were paid and have not gone back whole, oldest first. */
export async function listPaid(db: Db, org_id: Id<'org'>): Promise<Topup[]> {
  const { rows } = await db.query<Topup>({
    name: 'topups.list_paid',
    text: `
      select ${columns} from topup t left join invoice i on i.id = t.invoice_id
       where t.org_id = $1 and t.status = 'paid' and t.lot_id is not null
         and t.refunded_credits_micro < t.credits_micro
       order by t.paid_at, t.id`,
    values: [org_id],
  });
  return rows;
}
