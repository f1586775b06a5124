// SQL of refunds and of what rails say of them.
import type { Db, Id } from '../kernel/index.ts';
import type { RailName, RefundFact } from '../topups/index.ts';
import type { Refund } from './types.ts';

const columns = `id, org_id, topup_id, book_id, gateway, payment_ref, gateway_ref, currency, amount_minor, cgst_minor,
  sgst_minor, igst_minor, total_minor, fx_rate, credits_micro, source, reason, requested_minor, idempotency_key, status,
  failure_code, credit_note_id, sent_at, created_at, settled_at`;

/** Inserts a pending refund. @throws an error of PostgreSQL where the top-up has one, or the key was used. */
export async function insertRefund(
  db: Db,
  refund: Omit<Refund, 'status' | 'failure_code' | 'credit_note_id' | 'sent_at' | 'settled_at'>,
): Promise<void> {
  await db.query({
    name: 'refunds.insert',
    text: `
      insert into refund (id, org_id, topup_id, book_id, gateway, payment_ref, gateway_ref, currency, amount_minor,
                          cgst_minor, sgst_minor, igst_minor, total_minor, fx_rate, credits_micro, source, reason,
                          requested_minor, idempotency_key, status, created_at, updated_at)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, 'pending', $20, $20)`,
    values: [
      refund.id,
      refund.org_id,
      refund.topup_id,
      refund.book_id,
      refund.gateway,
      refund.payment_ref,
      refund.gateway_ref,
      refund.currency,
      refund.amount_minor,
      refund.cgst_minor,
      refund.sgst_minor,
      refund.igst_minor,
      refund.total_minor,
      refund.fx_rate,
      refund.credits_micro,
      refund.source,
      refund.reason,
      refund.requested_minor,
      refund.idempotency_key,
      refund.created_at,
    ],
  });
}

/** A refund; with `org_id` only that organization's. Null when there is none. */
export async function findRefund(
  db: Db,
  args: { id: Id<'refund'>; org_id: Id<'org'> | null },
): Promise<Refund | null> {
  const { rows } = await db.query<Refund>({
    name: 'refunds.find',
    text: `select ${columns} from refund where id = $1 and ($2::text is null or org_id = $2)`,
    values: [args.id, args.org_id],
  });
  return rows[0] ?? null;
}

/** The refunds of a top-up, oldest first. The top-up's lock keeps them as they are. */
export async function refundsOf(db: Db, topup_id: Id<'topup'>): Promise<Refund[]> {
  const { rows } = await db.query<Refund>({
    name: 'refunds.of_topup',
    text: `select ${columns} from refund where topup_id = $1 order by created_at, id`,
    values: [topup_id],
  });
  return rows;
}

/** Refunds of `org_id`, newest first, strictly after `before`. */
export async function listRefunds(
  db: Db,
  args: {
    org_id: Id<'org'>;
    topup_id: Id<'topup'> | null;
    before: { at: Date; id: string } | null;
    limit: number;
  },
): Promise<Refund[]> {
  const { rows } = await db.query<Refund>({
    name: 'refunds.list',
    text: `
      select ${columns} from refund
       where org_id = $1 and ($2::text is null or topup_id = $2)
         and ($3::timestamptz is null or (created_at, id) < ($3, $4))
       order by created_at desc, id desc limit $5`,
    values: [args.org_id, args.topup_id, args.before?.at ?? null, args.before?.id ?? null, args.limit],
  });
  return rows;
}

/** Refunds of all organizations or of one, newest first, strictly after `before`; `waiting`: pending and failed ones. */
export async function listStaffRefunds(
  db: Db,
  args: {
    org_id: Id<'org'> | null;
    waiting: boolean;
    before: { at: Date; id: string } | null;
    limit: number;
  },
): Promise<Refund[]> {
  const { rows } = await db.query<Refund>({
    name: 'refunds.list_of_staff',
    text: `
      select ${columns} from refund
       where ($1::text is null or org_id = $1) and (not $2 or status <> 'refunded')
         and ($3::timestamptz is null or (created_at, id) < ($3, $4))
       order by created_at desc, id desc limit $5`,
    values: [args.org_id, args.waiting, args.before?.at ?? null, args.before?.id ?? null, args.limit],
  });
  return rows;
}

/** Notes that the rail is about to be asked; false when it was before, or the refund has ended. */
export async function markSent(db: Db, args: { id: Id<'refund'>; at: Date }): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'refunds.mark_sent',
    text: `update refund set sent_at = $2, updated_at = $2 where id = $1 and sent_at is null and status = 'pending'`,
    values: [args.id, args.at],
  });
  return rowCount === 1;
}

/** Notes the rail's name of a refund. */
export async function nameRefund(
  db: Db,
  args: { id: Id<'refund'>; gateway_ref: string; at: Date },
): Promise<void> {
  await db.query({
    name: 'refunds.name',
    text: 'update refund set gateway_ref = $2, updated_at = $3 where id = $1 and gateway_ref is null',
    values: [args.id, args.gateway_ref, args.at],
  });
}

/** Marks a pending refund as gone back, with its credit note. */
export async function markRefunded(
  db: Db,
  args: { id: Id<'refund'>; gateway_ref: string; credit_note_id: Id<'credit_note'>; at: Date },
): Promise<void> {
  await db.query({
    name: 'refunds.mark_refunded',
    text: `
      update refund set status = 'refunded', gateway_ref = $2, credit_note_id = $3, settled_at = $4, updated_at = $4
       where id = $1 and status = 'pending'`,
    values: [args.id, args.gateway_ref, args.credit_note_id, args.at],
  });
}

/** Marks a pending refund as failed; false where it is not pending, or `unsent` and a rail was asked for it. */
export async function markFailed(
  db: Db,
  args: { id: Id<'refund'>; failure_code: string; unsent: boolean; at: Date },
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'refunds.mark_failed',
    text: `
      update refund set status = 'failed', failure_code = $2, updated_at = $3
       where id = $1 and status = 'pending' and (not $4 or sent_at is null)`,
    values: [args.id, args.failure_code, args.at, args.unsent],
  });
  return rowCount === 1;
}

/** Adds to what has gone back of a locked top-up. */
export async function addRefunded(
  db: Db,
  args: { topup_id: Id<'topup'>; total_minor: number; credits_micro: number; at: Date },
): Promise<void> {
  await db.query({
    name: 'refunds.add_to_topup',
    text: `
      update topup set refunded_minor = refunded_minor + $2, refunded_credits_micro = refunded_credits_micro + $3,
                       updated_at = $4 where id = $1`,
    values: [args.topup_id, args.total_minor, args.credits_micro, args.at],
  });
}

/** The paid top-up of a payment at a rail; null when the payment is none that was booked. */
export async function findPaidTopup(
  db: Db,
  args: { rail: RailName; payment_ref: string },
): Promise<Id<'topup'> | null> {
  const { rows } = await db.query<{ id: Id<'topup'> }>({
    name: 'refunds.find_paid_topup',
    text: `select id from topup where gateway = $1 and payment_ref = $2 and status = 'paid'`,
    values: [args.rail, args.payment_ref],
  });
  return rows[0]?.id ?? null;
}

/** A refund as a rail has it. */
export interface RailRefund {
  readonly rail: RailName;
  readonly ref: string;
  readonly payment_ref: string;
  /** Null while its payment is not booked. */
  readonly topup_id: Id<'topup'> | null;
  readonly refund_id: Id<'refund'> | null;
  readonly amount_minor: number;
  readonly currency: string;
  readonly status: RefundFact['status'];
}

/**
 * Keeps what a rail says of a refund. A failure stays, and what went back is not pending again; its top-up is noted when
 * it is known.
 */
export async function keepRailRefund(
  db: Db,
  refund: Omit<RailRefund, 'refund_id'> & { readonly at: Date },
): Promise<void> {
  await db.query({
    name: 'refunds.keep_rail_refund',
    text: `
      insert into rail_refund (rail, ref, payment_ref, topup_id, amount_minor, currency, status, seen_at)
      values ($1, $2, $3, $4, $5, $6, $7, $8)
      on conflict (rail, ref) do update
         set topup_id = coalesce(rail_refund.topup_id, excluded.topup_id),
             status = case when rail_refund.status = 'failed' or excluded.status = 'pending' then rail_refund.status
                           else excluded.status end`,
    values: [
      refund.rail,
      refund.ref,
      refund.payment_ref,
      refund.topup_id,
      refund.amount_minor,
      refund.currency,
      refund.status,
      refund.at,
    ],
  });
}

/** Notes which of ours a rail's refund is. */
export async function claimRailRefund(
  db: Db,
  args: { rail: RailName; ref: string; refund_id: Id<'refund'> },
): Promise<void> {
  await db.query({
    name: 'refunds.claim_rail_refund',
    text: 'update rail_refund set refund_id = $3 where rail = $1 and ref = $2 and refund_id is null',
    values: [args.rail, args.ref, args.refund_id],
  });
}

/** A rail's refund as it is kept; null when none is. */
export async function findRailRefund(
  db: Db,
  args: { rail: RailName; ref: string },
): Promise<RailRefund | null> {
  const { rows } = await db.query<RailRefund>({
    name: 'refunds.find_rail_refund',
    text: `
      select rail, ref, payment_ref, topup_id, refund_id, amount_minor, currency, status from rail_refund
       where rail = $1 and ref = $2`,
    values: [args.rail, args.ref],
  });
  return rows[0] ?? null;
}

/** Refunds at rails that went back, were seen before `before` and are none of ours; at most `limit`, oldest first. */
export async function unclaimedRailRefunds(
  db: Db,
  args: { before: Date; limit: number },
): Promise<(RailRefund & { readonly topup_id: Id<'topup'> })[]> {
  const { rows } = await db.query<RailRefund & { readonly topup_id: Id<'topup'> }>({
    name: 'refunds.unclaimed',
    text: `
      select rail, ref, payment_ref, topup_id, refund_id, amount_minor, currency, status from rail_refund
       where refund_id is null and topup_id is not null and status = 'refunded' and seen_at <= $1
       order by seen_at limit $2`,
    values: [args.before, args.limit],
  });
  return rows;
}

/** Refunds that a rail reported before the payment was booked, which is booked now; at most `limit`. */
export async function earlyRailRefunds(db: Db, limit: number): Promise<RailRefund[]> {
  const { rows } = await db.query<RailRefund>({
    name: 'refunds.early',
    text: `
      select r.rail, r.ref, r.payment_ref, r.topup_id, r.refund_id, r.amount_minor, r.currency, r.status
        from rail_refund r join topup t on t.gateway = r.rail and t.payment_ref = r.payment_ref
       where r.topup_id is null and t.status = 'paid' order by r.seen_at limit $1`,
    values: [limit],
  });
  return rows;
}
