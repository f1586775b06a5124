// SQL of disputes and of what rails say of them.
import type { Db, Id } from '../../kernel/index.ts';
import type { RailName } from '../types.ts';
import type { Dispute, DisputeFact, RailDispute } from './types.ts';

const columns = `id, org_id, topup_id, book_id, gateway, gateway_ref, payment_ref, phase, reason, currency, amount_minor,
  price_minor, cgst_minor, sgst_minor, igst_minor, excess_minor, credits_micro, written_off_micro, status, respond_by,
  opened_at, closed_at, lifted_at, paid_at`;
const HOLDS = `status = 'open' or (status = 'lost' and written_off_micro is distinct from 0 and paid_at is null)`;

/** Whether an organization may not take money out: a dispute is open, or one was lost and nobody has paid the loss. */
export async function hasPaymentHold(db: Db, org_id: Id<'org'>): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'disputes.has_payment_hold',
    text: `select 1 from dispute where org_id = $1 and (${HOLDS}) limit 1`,
    values: [org_id],
  });
  return rowCount > 0;
}

/** Whether a dispute of a payment of an organization is open: nothing is charged by itself meanwhile. */
export async function hasOpenDispute(db: Db, org_id: Id<'org'>): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'disputes.has_open',
    text: `select 1 from dispute where org_id = $1 and status = 'open' limit 1`,
    values: [org_id],
  });
  return rowCount > 0;
}

/** Whether a loss keeps an organization from making calls: neither paid, nor lifted by staff. */
export async function hasLoss(db: Db, org_id: Id<'org'>): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'disputes.has_loss',
    text: `
      select 1 from dispute
       where org_id = $1 and status = 'lost' and written_off_micro > 0 and lifted_at is null and paid_at is null
       limit 1`,
    values: [org_id],
  });
  return rowCount > 0;
}

type NewDispute = Omit<Dispute, 'status' | 'written_off_micro' | 'closed_at' | 'lifted_at' | 'paid_at'>;

/** Inserts an open dispute, and marks its locked top-up. */
export async function insertDispute(db: Db, dispute: NewDispute): Promise<void> {
  await db.query({
    name: 'disputes.insert',
    text: `
      insert into dispute (id, org_id, topup_id, book_id, gateway, gateway_ref, payment_ref, phase, reason, currency,
                           amount_minor, price_minor, cgst_minor, sgst_minor, igst_minor, excess_minor, credits_micro,
                           respond_by, status, opened_at, updated_at)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, 'open', $19, $19)`,
    values: [
      dispute.id,
      dispute.org_id,
      dispute.topup_id,
      dispute.book_id,
      dispute.gateway,
      dispute.gateway_ref,
      dispute.payment_ref,
      dispute.phase,
      dispute.reason,
      dispute.currency,
      dispute.amount_minor,
      dispute.price_minor,
      dispute.cgst_minor,
      dispute.sgst_minor,
      dispute.igst_minor,
      dispute.excess_minor,
      dispute.credits_micro,
      dispute.respond_by,
      dispute.opened_at,
    ],
  });
  await markDisputed(db, { topup_id: dispute.topup_id, at: dispute.opened_at });
}

/** A top-up is disputed while a dispute of its payment is open, and for ever after one was lost. */
async function markDisputed(db: Db, args: { topup_id: Id<'topup'>; at: Date }): Promise<void> {
  await db.query({
    name: 'disputes.mark_topup',
    text: `
      update topup set updated_at = $2, disputed = exists (
               select 1 from dispute where topup_id = topup.id and dispute.status <> 'won')
       where id = $1`,
    values: [args.topup_id, args.at],
  });
}

/** A dispute; null when there is none. */
export async function findDispute(db: Db, id: Id<'dispute'>): Promise<Dispute | null> {
  const { rows } = await db.query<Dispute>({
    name: 'disputes.find',
    text: `select ${columns} from dispute where id = $1`,
    values: [id],
  });
  return rows[0] ?? null;
}

/** The disputes of a top-up, oldest first. The top-up's lock keeps them as they are. */
export async function disputesOf(db: Db, topup_id: Id<'topup'>): Promise<Dispute[]> {
  const { rows } = await db.query<Dispute>({
    name: 'disputes.of_topup',
    text: `select ${columns} from dispute where topup_id = $1 order by opened_at, id`,
    values: [topup_id],
  });
  return rows;
}

/** The newest dispute of each of these top-ups. */
export async function newestDisputes(
  db: Db,
  topup_ids: readonly Id<'topup'>[],
): Promise<Map<Id<'topup'>, Dispute>> {
  if (topup_ids.length === 0) return new Map();
  const { rows } = await db.query<Dispute>({
    name: 'disputes.newest',
    text: `
      select distinct on (topup_id) ${columns} from dispute
       where topup_id = any($1) order by topup_id, opened_at desc, id desc`,
    values: [topup_ids],
  });
  return new Map(rows.map((dispute) => [dispute.topup_id, dispute]));
}

/** Disputes of all organizations, or of one, newest first, strictly after `before`. */
export async function listDisputes(
  db: Db,
  args: {
    org_id: Id<'org'> | null;
    /** Only those that somebody must look at: open ones and losses that nobody has paid. */
    waiting: boolean;
    before: { at: Date; id: string } | null;
    limit: number;
  },
): Promise<Dispute[]> {
  const { rows } = await db.query<Dispute>({
    name: 'disputes.list',
    text: `
      select ${columns} from dispute
       where ($1::text is null or org_id = $1) and (not $2 or ${HOLDS})
         and ($3::timestamptz is null or (opened_at, id) < ($3, $4))
       order by opened_at desc, id desc limit $5`,
    values: [args.org_id, args.waiting, args.before?.at ?? null, args.before?.id ?? null, args.limit],
  });
  return rows;
}

/** Keeps the rail's newest words about an open dispute. */
export async function noteDispute(
  db: Db,
  args: Pick<Dispute, 'id' | 'phase' | 'reason' | 'respond_by'> & { readonly at: Date },
): Promise<void> {
  await db.query({
    name: 'disputes.note',
    text: `
      update dispute set phase = $2, reason = $3, respond_by = coalesce($4, respond_by), updated_at = $5
       where id = $1 and status = 'open'`,
    values: [args.id, args.phase, args.reason, args.respond_by, args.at],
  });
}

/** The parts of what a dispute is about. */
export type DisputeParts = Pick<
  Dispute,
  'price_minor' | 'cgst_minor' | 'sgst_minor' | 'igst_minor' | 'excess_minor' | 'credits_micro'
>;

/** Ends an open dispute, with the parts of a lost one as they are now; its top-up is locked. */
export async function closeDispute(
  db: Db,
  args: Pick<Dispute, 'id' | 'topup_id' | 'amount_minor'> &
    DisputeParts & { readonly status: 'won' | 'lost'; readonly at: Date },
): Promise<void> {
  await db.query({
    name: 'disputes.close',
    text: `
      update dispute
         set status = $2, closed_at = $3, updated_at = $3, amount_minor = $4, price_minor = $5, cgst_minor = $6,
             sgst_minor = $7, igst_minor = $8, excess_minor = $9, credits_micro = $10
       where id = $1 and status = 'open'`,
    values: [
      args.id,
      args.status,
      args.at,
      args.amount_minor,
      args.price_minor,
      args.cgst_minor,
      args.sgst_minor,
      args.igst_minor,
      args.excess_minor,
      args.credits_micro,
    ],
  });
  await markDisputed(db, { topup_id: args.topup_id, at: args.at });
}

/** Notes what a lost dispute cost; false when it was noted before. */
export async function noteLoss(
  db: Db,
  args: { id: Id<'dispute'>; written_off_micro: number; at: Date },
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'disputes.note_loss',
    text: `
      update dispute set written_off_micro = $2, updated_at = $3
       where id = $1 and status = 'lost' and written_off_micro is null`,
    values: [args.id, args.written_off_micro, args.at],
  });
  return rowCount === 1;
}

/** Lost disputes whose loss is not noted, oldest first. */
export async function unansweredLosses(db: Db, limit: number): Promise<Id<'dispute'>[]> {
  const { rows } = await db.query<{ id: Id<'dispute'> }>({
    name: 'disputes.unanswered',
    text: `
      select id from dispute where status = 'lost' and written_off_micro is null order by closed_at limit $1`,
    values: [limit],
  });
  return rows.map(({ id }) => id);
}

/** Notes that staff lifted the suspension of a loss, or that the loss was paid; false where it was noted before. */
export async function endLoss(
  db: Db,
  args: { id: Id<'dispute'>; by: 'lifted' | 'paid'; at: Date },
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'disputes.end_loss',
    text: `
      update dispute
         set lifted_at = case when $2 = 'lifted' then $3 else lifted_at end,
             paid_at = case when $2 = 'paid' then $3 end, updated_at = $3
       where id = $1 and written_off_micro > 0 and paid_at is null and ($2 = 'paid' or lifted_at is null)`,
    values: [args.id, args.by, args.at],
  });
  return rowCount === 1;
}

const rail_columns =
  'rail, ref, payment_ref, dispute_id, amount_minor, currency, status, phase, reason, respond_by';

/**
 * Keeps what a rail says of a dispute and returns it as it is kept: an end stays, in whichever order facts come, and the
 * first of two ends.
 */
export async function keepRailDispute(
  db: Db,
  args: { rail: RailName; fact: DisputeFact; at: Date },
): Promise<RailDispute> {
  const { rail, fact, at } = args;
  const { rows } = await db.query<RailDispute>({
    name: 'disputes.keep_rail_dispute',
    text: `
      insert into rail_dispute as d (rail, ref, payment_ref, amount_minor, currency, status, phase, reason, respond_by,
                                     seen_at)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
      on conflict (rail, ref) do update
         set amount_minor = case when d.status = 'open' then excluded.amount_minor else d.amount_minor end,
             currency = case when d.status = 'open' then excluded.currency else d.currency end,
             status = case when d.status = 'open' then excluded.status else d.status end,
             phase = excluded.phase, reason = excluded.reason,
             respond_by = coalesce(excluded.respond_by, d.respond_by)
      returning ${rail_columns}`,
    values: [
      rail,
      fact.ref,
      fact.payment_ref,
      fact.amount_minor,
      fact.currency,
      fact.status,
      fact.phase,
      fact.reason,
      fact.respond_by,
      at,
    ],
  });
  return rows[0]!;
}

/** Notes which of ours a rail's dispute is. */
export async function claimRailDispute(
  db: Db,
  args: { rail: RailName; ref: string; dispute_id: Id<'dispute'> },
): Promise<void> {
  await db.query({
    name: 'disputes.claim_rail_dispute',
    text: 'update rail_dispute set dispute_id = $3 where rail = $1 and ref = $2 and dispute_id is null',
    values: [args.rail, args.ref, args.dispute_id],
  });
}

/** What was reported of a payment's disputes before the payment was booked, first seen first. */
export async function earlyDisputes(
  db: Db,
  args: { rail: RailName; payment_ref: string },
): Promise<RailDispute[]> {
  const { rows } = await db.query<RailDispute>({
    name: 'disputes.early',
    text: `
      select ${rail_columns} from rail_dispute
       where rail = $1 and payment_ref = $2 and dispute_id is null order by seen_at, ref`,
    values: [args.rail, args.payment_ref],
  });
  return rows;
}

/** Paid top-ups with a dispute that was reported before they were booked, at most `limit`. */
export async function topupsWithEarlyDisputes(db: Db, limit: number): Promise<Id<'topup'>[]> {
  const { rows } = await db.query<{ id: Id<'topup'> }>({
    name: 'disputes.topups_with_early',
    text: `
      select distinct t.id from rail_dispute d join topup t on t.gateway = d.rail and t.payment_ref = d.payment_ref
       where d.dispute_id is null and t.status = 'paid' order by t.id limit $1`,
    values: [limit],
  });
  return rows.map(({ id }) => id);
}
