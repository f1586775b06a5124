// SQL of batches, codes and redemptions.
import type { Db, Id, KeyedHash } from '../kernel/index.ts';
import type { Batch, Redemption } from './types.ts';

const BATCH = `
  b.batch_id, b.name, b.amount_micro_usd, b.codes, b.credit_days, b.valid_until, b.max_per_org, b.country,
  b.new_org_only, b.created_by, b.created_at, b.closed_at`;

/** Inserts a batch and returns its number; null when the name is taken. */
export async function insertBatch(
  db: Db,
  batch: Omit<Batch, 'batch_id' | 'closed_at'>,
): Promise<number | null> {
  const { rows } = await db.query<{ batch_id: number }>({
    name: 'redeem.insert_batch',
    text: `
      insert into redeem_batch (name, amount_micro_usd, codes, credit_days, valid_until, max_per_org, country,
                                new_org_only, created_by, created_at)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
      on conflict (name) do nothing returning batch_id`,
    values: [
      batch.name,
      batch.amount_micro_usd,
      batch.codes,
      batch.credit_days,
      batch.valid_until,
      batch.max_per_org,
      batch.country,
      batch.new_org_only,
      batch.created_by,
      batch.created_at,
    ],
  });
  return rows[0]?.batch_id ?? null;
}

/** Stores the hashes of a batch's codes. */
export async function insertCodes(
  db: Db,
  args: { batch_id: number; hashes: readonly KeyedHash[] },
): Promise<void> {
  await db.query({
    name: 'redeem.insert_codes',
    text: `
      insert into redeem_code (code_hash, hash_key_id, batch_id)
      select hash, hash_key_id, $1 from unnest($2::bytea[], $3::bytea[]) as code (hash, hash_key_id)`,
    values: [
      args.batch_id,
      args.hashes.map(({ hash }) => hash),
      args.hashes.map(({ hash_key_id }) => hash_key_id),
    ],
  });
}

/** Ends a batch: none of its codes is taken any more. False when there is none of this name, or it had ended. */
export async function closeBatch(db: Db, args: { name: string; at: Date }): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'redeem.close_batch',
    text: 'update redeem_batch set closed_at = $2 where name = $1 and closed_at is null',
    values: [args.name, args.at],
  });
  return rowCount === 1;
}

/** The batch of this name; null when there is none. */
export async function findBatch(db: Db, name: string): Promise<Batch | null> {
  const { rows } = await db.query<Batch>({
    name: 'redeem.find_batch',
    text: `select ${BATCH} from redeem_batch b where b.name = $1`,
    values: [name],
  });
  return rows[0] ?? null;
}

/** Batches with how many of their codes are redeemed, newest first, beyond `before`. */
export async function listBatches(
  db: Db,
  args: { before: number | null; limit: number },
): Promise<(Batch & { redeemed: number })[]> {
  const { rows } = await db.query<Batch & { redeemed: number }>({
    name: 'redeem.list_batches',
    text: `
      select ${BATCH},
             (select count(*)::int from redemption r where r.batch_id = b.batch_id) as redeemed
        from redeem_batch b where $1::bigint is null or b.batch_id < $1
       order by b.batch_id desc limit $2`,
    values: [args.before, args.limit],
  });
  return rows;
}

/**
 * The batch of the code that has one of these hashes, with the code locked until the transaction ends, so that of concurrent redemptions one finds it
 * unused (RM1); null when there is no such code.
 */
export async function lockCode(
  db: Db,
  code_hashes: readonly Buffer[],
): Promise<{ batch: Batch; code_hash: Buffer; redemption_id: Id<'redemption'> | null } | null> {
  const { rows } = await db.query<Batch & { code_hash: Buffer; redemption_id: Id<'redemption'> | null }>({
    name: 'redeem.lock_code',
    text: `
      select c.code_hash, c.redemption_id, ${BATCH}
        from redeem_code c join redeem_batch b using (batch_id)
       where c.code_hash = any($1) for no key update of c`,
    values: [code_hashes],
  });
  const row = rows[0];
  if (row === undefined) return null;
  const { code_hash, redemption_id, ...batch } = row;
  return { batch, code_hash, redemption_id };
}

/** Marks a locked code as used. */
export async function useCode(
  db: Db,
  args: { code_hash: Buffer; redemption_id: Id<'redemption'> },
): Promise<void> {
  await db.query({
    name: 'redeem.use_code',
    text: 'update redeem_code set redemption_id = $2 where code_hash = $1 and redemption_id is null',
    values: [args.code_hash, args.redemption_id],
  });
}

/** How many codes of a batch, and of all batches, an organization has redeemed. */
export async function countRedeemed(
  db: Db,
  args: { org_id: Id<'org'>; batch_id: number },
): Promise<{ of_batch: number; of_all: number }> {
  const { rows } = await db.query<{ of_batch: number; of_all: number }>({
    name: 'redeem.count_redeemed',
    text: `
      select count(*) filter (where batch_id = $2)::int as of_batch, count(batch_id)::int as of_all
        from redemption where org_id = $1`,
    values: [args.org_id, args.batch_id],
  });
  return rows[0] as { of_batch: number; of_all: number };
}

/** Writes a redemption down. */
export async function insertRedemption(
  db: Db,
  redemption: Omit<Redemption, 'batch' | 'ledger_seq'> & { batch_id: number | null },
): Promise<void> {
  await db.query({
    name: 'redeem.insert_redemption',
    text: `
      insert into redemption (id, org_id, batch_id, gift_id, amount_micro_usd, credit_expires_at, created_at)
      values ($1, $2, $3, $4, $5, $6, $7)`,
    values: [
      redemption.id,
      redemption.org_id,
      redemption.batch_id,
      redemption.gift_id,
      redemption.amount_micro_usd,
      redemption.credit_expires_at,
      redemption.created_at,
    ],
  });
}

/** Notes the entry that booked a redemption. */
export async function noteSeq(db: Db, args: { id: Id<'redemption'>; ledger_seq: number }): Promise<void> {
  await db.query({
    name: 'redeem.note_seq',
    text: 'update redemption set ledger_seq = $2 where id = $1 and ledger_seq is null',
    values: [args.id, args.ledger_seq],
  });
}

/** A page of an organization's redemptions, newest first, strictly after `after`. */
export async function listRedemptions(
  db: Db,
  args: { org_id: Id<'org'>; after: { at: number; id: string } | null; limit: number },
): Promise<Redemption[]> {
  const { rows } = await db.query<Redemption>({
    name: 'redeem.list_redemptions',
    text: `
      select r.id, r.org_id, r.amount_micro_usd, r.credit_expires_at, r.ledger_seq, b.name as batch, r.gift_id,
             r.created_at
        from redemption r left join redeem_batch b using (batch_id)
       where r.org_id = $1 and ($2::timestamptz is null or (r.created_at, r.id) < ($2, $3))
       order by r.created_at desc, r.id desc limit $4`,
    values: [
      args.org_id,
      args.after === null ? null : new Date(args.after.at),
      args.after?.id ?? null,
      args.limit,
    ],
  });
  return rows;
}

/**
 * Locks the counter of who tries codes until the transaction ends, so that attempts of one take turns; returns its
 * misses since `since`, and when they began.
 */
export async function lockMisses(
  db: Db,
  args: { subject: string; at: Date; since: Date },
): Promise<{ misses: number; since: Date }> {
  const { rows } = await db.query<{ misses: number; since: Date }>({
    name: 'redeem.lock_misses',
    text: `
      insert into redeem_miss as m (subject, misses, since) values ($1, 0, $2)
      on conflict (subject) do update
         set misses = case when m.since > $3 then m.misses else 0 end,
             since = case when m.since > $3 and m.misses > 0 then m.since else $2 end
      returning misses, since`,
    values: [args.subject, args.at, args.since],
  });
  return rows[0] as { misses: number; since: Date };
}

/** Counts a miss on locked counters. */
export async function addMiss(db: Db, subjects: readonly string[]): Promise<void> {
  await db.query({
    name: 'redeem.add_miss',
    text: 'update redeem_miss set misses = misses + 1 where subject = any ($1)',
    values: [subjects],
  });
}

/** Forgets counters of misses from before `before`; returns how many. An hourly job. */
export async function purgeMisses(db: Db, before: Date): Promise<number> {
  const { rowCount } = await db.query({
    name: 'redeem.purge_misses',
    text: 'delete from redeem_miss where since < $1',
    values: [before],
  });
  return rowCount ?? 0;
}
