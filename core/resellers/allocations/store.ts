// SQL of allocations and of what was taken back. An allocation is a row of its reseller.
import type { Db, Id } from '../../kernel/index.ts';

export interface Allocation {
  readonly id: Id<'allocation'>;
  /** The reseller. */
  readonly org_id: Id<'org'>;
  readonly child_org_id: Id<'org'>;
  readonly amount_micro_usd: number;
  readonly reclaimed_micro_usd: number;
  readonly note: string;
  readonly status: 'pending' | 'made';
  readonly ledger_seq: number | null;
  readonly child_ledger_seq: number | null;
  readonly lot_id: Id<'lot'> | null;
  readonly expires_at: Date;
  readonly created_by: string;
  readonly created_at: Date;
}

const ALLOCATION = `
  id, org_id, child_org_id, amount_micro_usd, reclaimed_micro_usd, note, status, ledger_seq, child_ledger_seq, lot_id,
  expires_at, created_by, created_at`;

/** Inserts a pending allocation and returns its id: that of the row that the same request made before, where one did. */
export async function insertAllocation(
  db: Db,
  made: Pick<Allocation, 'id' | 'org_id' | 'child_org_id' | 'amount_micro_usd' | 'note' | 'expires_at'> &
    Pick<Allocation, 'created_by' | 'created_at'> & { readonly once: string | null },
): Promise<{ id: Id<'allocation'>; is_new: boolean }> {
  // A key counts for a day; then it is a new request's.
  await db.query({
    name: 'resellers.forget_allocation_once',
    text: `
      update reseller_allocation set once = null
       where org_id = $1 and once = $2 and created_at < $3::timestamptz - interval '1 day'`,
    values: [made.org_id, made.once, made.created_at],
  });
  const { rowCount } = await db.query({
    name: 'resellers.insert_allocation',
    text: `
      insert into reseller_allocation (id, org_id, child_org_id, amount_micro_usd, note, once, expires_at, created_by,
                                       created_at)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
      on conflict (org_id, once) do nothing`,
    values: [
      ...[made.id, made.org_id, made.child_org_id, made.amount_micro_usd, made.note, made.once],
      ...[made.expires_at, made.created_by, made.created_at],
    ],
  });
  if (rowCount === 1) return { id: made.id, is_new: true };
  const { rows } = await db.query<{ id: Id<'allocation'> }>({
    name: 'resellers.find_allocation_once',
    text: 'select id from reseller_allocation where org_id = $1 and once = $2',
    values: [made.org_id, made.once],
  });
  if (rows[0] === undefined) throw new Error('an allocation of this request is there and is not');
  return { id: rows[0].id, is_new: false };
}

type Place = Pick<Allocation, 'id' | 'org_id'>;

/** An allocation of a reseller, locked until the transaction ends; null when there is none. */
export async function lockAllocation(db: Db, { id, org_id }: Place): Promise<Allocation | null> {
  const { rows } = await db.query<Allocation>({
    name: 'resellers.lock_allocation',
    text: `select ${ALLOCATION} from reseller_allocation where org_id = $1 and id = $2 for update`,
    values: [org_id, id],
  });
  return rows[0] ?? null;
}

/** An allocation of a reseller; null when there is none. */
export async function findAllocation(db: Db, { id, org_id }: Place): Promise<Allocation | null> {
  const { rows } = await db.query<Allocation>({
    name: 'resellers.find_allocation',
    text: `select ${ALLOCATION} from reseller_allocation where org_id = $1 and id = $2`,
    values: [org_id, id],
  });
  return rows[0] ?? null;
}

/** Deletes a pending allocation, of which the ledger took nothing. */
export async function deletePending(db: Db, { id, org_id }: Place): Promise<void> {
  await db.query({
    name: 'resellers.delete_pending_allocation',
    text: `delete from reseller_allocation where org_id = $1 and id = $2 and status = 'pending'`,
    values: [org_id, id],
  });
}

/** Notes that the credit was taken from the reseller; false when it was noted before. Of several one gets true. */
export async function markMade(db: Db, args: Place & { ledger_seq: number }): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'resellers.mark_allocation_made',
    text: `
      update reseller_allocation set status = 'made', ledger_seq = $3
       where org_id = $1 and id = $2 and status = 'pending'`,
    values: [args.org_id, args.id, args.ledger_seq],
  });
  return rowCount === 1;
}

/** Notes the customer's entry and lot. */
export async function markBooked(
  db: Db,
  args: Place & { child_ledger_seq: number; lot_id: string },
): Promise<void> {
  await db.query({
    name: 'resellers.mark_allocation_booked',
    text: `
      update reseller_allocation set child_ledger_seq = $3, lot_id = $4
       where org_id = $1 and id = $2 and child_ledger_seq is null`,
    values: [args.org_id, args.id, args.child_ledger_seq, args.lot_id],
  });
}

/** A page of what a customer was given, newest first, strictly after `after`. */
export async function listAllocations(
  db: Db,
  args: {
    org_id: Id<'org'>;
    child_org_id: Id<'org'>;
    after: { at: number; id: string } | null;
    limit: number;
  },
): Promise<Allocation[]> {
  const { rows } = await db.query<Allocation>({
    name: 'resellers.list_allocations',
    text: `
      select ${ALLOCATION} from reseller_allocation
       where org_id = $1 and child_org_id = $2 and status = 'made'
         and ($3::timestamptz is null or (created_at, id) < ($3, $4))
       order by created_at desc, id desc limit $5`,
    values: [
      ...[args.org_id, args.child_org_id],
      ...[args.after === null ? null : new Date(args.after.at), args.after?.id ?? null, args.limit],
    ],
  });
  return rows;
}

/** Allocations from before `before` that the ledgers have not wholly booked, oldest first. For the job. */
export async function listDue(db: Db, args: { before: Date; limit: number }): Promise<Place[]> {
  const { rows } = await db.query<Place>({
    name: 'resellers.list_due_allocations',
    text: `
      select id, org_id from reseller_allocation
       where (status = 'pending' or child_ledger_seq is null) and created_at < $1
       order by created_at limit $2`,
    values: [args.before, args.limit],
  });
  return rows;
}

/** What a customer was given that can still be there at `at`, oldest first. */
export async function listGiven(
  db: Db,
  args: { org_id: Id<'org'>; child_org_id: Id<'org'>; at: Date },
): Promise<Allocation[]> {
  const { rows } = await db.query<Allocation>({
    name: 'resellers.list_given',
    text: `
      select ${ALLOCATION} from reseller_allocation
       where org_id = $1 and child_org_id = $2 and expires_at > $3 and reclaimed_micro_usd < amount_micro_usd
       order by created_at, id`,
    values: [args.org_id, args.child_org_id, args.at],
  });
  return rows;
}

/** Reclaims of a customer that the ledger has not answered. */
export async function listOpenReclaims(
  db: Db,
  args: { org_id: Id<'org'>; child_org_id: Id<'org'> },
): Promise<Reclaim[]> {
  const { rows } = await db.query<Reclaim>({
    name: 'resellers.list_open_reclaims',
    text: `
      select back.allocation_id, back.reclaim_no, back.org_id
        from reseller_reclaim back join reseller_allocation given on given.id = back.allocation_id
       where back.org_id = $1 and given.child_org_id = $2 and back.amount_micro_usd is null
       order by back.created_at`,
    values: [args.org_id, args.child_org_id],
  });
  return rows;
}

/** Something that is taken back of an allocation. */
export interface Reclaim {
  readonly allocation_id: Id<'allocation'>;
  readonly reclaim_no: number;
  readonly org_id: Id<'org'>;
}

/** Inserts a reclaim that the ledger has not answered; its number is the next of the allocation, which is locked. */
export async function insertReclaim(
  db: Db,
  args: Omit<Reclaim, 'reclaim_no'> & { created_by: string; at: Date },
): Promise<Reclaim> {
  const { rows } = await db.query<Reclaim>({
    name: 'resellers.insert_reclaim',
    text: `
      insert into reseller_reclaim (allocation_id, reclaim_no, org_id, created_by, created_at)
      select $1, coalesce(max(reclaim_no), 0) + 1, $2, $3, $4 from reseller_reclaim where allocation_id = $1
      returning allocation_id, reclaim_no, org_id`,
    values: [args.allocation_id, args.org_id, args.created_by, args.at],
  });
  return rows[0] as Reclaim;
}

/** Notes what a reclaim took and adds it to its allocation, which is locked; false when it was noted before. */
export async function endReclaim(
  db: Db,
  { allocation_id, reclaim_no, org_id }: Reclaim,
  amount_micro_usd: number,
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'resellers.end_reclaim',
    text: `
      update reseller_reclaim set amount_micro_usd = $4
       where org_id = $1 and allocation_id = $2 and reclaim_no = $3 and amount_micro_usd is null`,
    values: [org_id, allocation_id, reclaim_no, amount_micro_usd],
  });
  if (rowCount === 0) return false;
  await db.query({
    name: 'resellers.add_reclaimed',
    text: `
      update reseller_allocation set reclaimed_micro_usd = reclaimed_micro_usd + $3 where org_id = $1 and id = $2`,
    values: [org_id, allocation_id, amount_micro_usd],
  });
  return true;
}

/** Reclaims from before `before` that the ledger had not answered, oldest first. For the job. */
export async function listDueReclaims(db: Db, args: { before: Date; limit: number }): Promise<Reclaim[]> {
  const { rows } = await db.query<Reclaim>({
    name: 'resellers.list_due_reclaims',
    text: `
      select allocation_id, reclaim_no, org_id from reseller_reclaim
       where amount_micro_usd is null and created_at < $1
       order by created_at limit $2`,
    values: [args.before, args.limit],
  });
  return rows;
}
