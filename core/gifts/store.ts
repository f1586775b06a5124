// SQL of gifts. A guarded update is the lock of each move: of any number of callers one gets the row (GF1).
import type { Db, Id } from '../kernel/index.ts';
import type { Gift } from './types.ts';

const COLUMNS = 'id, org_id, amount_micro_usd, hint, note, status, expires_at, created_at, closed_at';

/** Writes a gift down whose credit is not taken yet. */
export async function insertGift(
  db: Db,
  gift: Omit<Gift, 'status' | 'closed_at'> & { code_hash: Buffer; hash_key_id: Buffer },
): Promise<void> {
  await db.query({
    name: 'gifts.insert',
    text: `
      insert into gift
        (id, org_id, amount_micro_usd, code_hash, hash_key_id, hint, note, status, expires_at, created_at)
      values ($1, $2, $3, $4, $9, $5, $6, 'pending', $7, $8)`,
    values: [
      gift.id,
      gift.org_id,
      gift.amount_micro_usd,
      gift.code_hash,
      gift.hint,
      gift.note,
      gift.expires_at,
      gift.created_at,
      gift.hash_key_id,
    ],
  });
}

/** Opens a pending gift, whose credit was taken; null when it was cancelled meanwhile. */
export async function openGift(db: Db, id: Id<'gift'>): Promise<Gift | null> {
  const { rows } = await db.query<Gift>({
    name: 'gifts.open',
    text: `update gift set status = 'open' where id = $1 and status = 'pending' returning ${COLUMNS}`,
    values: [id],
  });
  return rows[0] ?? null;
}

/** Forgets a pending gift for which there was no credit. */
export async function deletePending(db: Db, id: Id<'gift'>): Promise<void> {
  await db.query({
    name: 'gifts.delete_pending',
    text: `delete from gift where id = $1 and status = 'pending'`,
    values: [id],
  });
}

/** Cancels a gift that is in `from` and returns it; null when another move came first or it is not `org_id`'s. */
export async function cancelFrom(
  db: Db,
  args: { id: Id<'gift'>; org_id: Id<'org'>; from: 'pending' | 'open'; at: Date },
): Promise<Gift | null> {
  const { rows } = await db.query<Gift>({
    name: 'gifts.cancel',
    text: `
      update gift set status = 'cancelled', closed_at = $4
       where id = $1 and org_id = $2 and status = $3 returning ${COLUMNS}`,
    values: [args.id, args.org_id, args.from, args.at],
  });
  return rows[0] ?? null;
}

/** The gift whose code has one of these hashes, whoever's; null when there is none. */
export async function findByCode(db: Db, code_hashes: readonly Buffer[]): Promise<Gift | null> {
  const { rows } = await db.query<Gift>({
    name: 'gifts.find_by_code',
    text: `select ${COLUMNS} from gift where code_hash = any($1) and status <> 'pending'`,
    values: [code_hashes],
  });
  return rows[0] ?? null;
}

/** Closes an open gift for `redeemed_by`; false when it is closed or has expired. */
export async function closeRedeemed(
  db: Db,
  args: { id: Id<'gift'>; redeemed_by: Id<'org'>; at: Date },
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'gifts.close_redeemed',
    text: `
      update gift set status = 'redeemed', redeemed_by = $2, closed_at = $3
       where id = $1 and status = 'open' and expires_at > $3`,
    values: [args.id, args.redeemed_by, args.at],
  });
  return rowCount === 1;
}

/** A gift of `org_id`; null when it is missing, pending or another's. */
export async function findGift(db: Db, args: { id: Id<'gift'>; org_id: Id<'org'> }): Promise<Gift | null> {
  const { rows } = await db.query<Gift>({
    name: 'gifts.find',
    text: `select ${COLUMNS} from gift where id = $1 and org_id = $2 and status <> 'pending'`,
    values: [args.id, args.org_id],
  });
  return rows[0] ?? null;
}

/** A page of gifts, newest first, strictly after `after`. */
export async function listGifts(
  db: Db,
  args: { org_id: Id<'org'>; after: { at: number; id: string } | null; limit: number },
): Promise<Gift[]> {
  const { rows } = await db.query<Gift>({
    name: 'gifts.list',
    text: `
      select ${COLUMNS} from gift
       where org_id = $1 and status <> 'pending'
         and ($2::timestamptz is null or (created_at, id) < ($2, $3))
       order by created_at desc, id desc limit $4`,
    values: [
      args.org_id,
      args.after === null ? null : new Date(args.after.at),
      args.after?.id ?? null,
      args.limit,
    ],
  });
  return rows;
}

/** Open gifts that have ended at `at`, and pending ones from before `pending_before`, the longest first. */
export async function listDue(
  db: Db,
  args: { at: Date; pending_before: Date; limit: number },
): Promise<Gift[]> {
  const { rows } = await db.query<Gift>({
    name: 'gifts.list_due',
    text: `
      select ${COLUMNS} from gift
       where (status = 'open' and expires_at <= $1) or (status = 'pending' and created_at <= $2)
       order by created_at limit $3`,
    values: [args.at, args.pending_before, args.limit],
  });
  return rows;
}
