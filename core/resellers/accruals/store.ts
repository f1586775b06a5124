// SQL of what resellers earn.
import type { Db, Id } from '../../kernel/index.ts';

/** What a reseller earns of a customer in a month. */
export interface Accrual {
  readonly child_org_id: Id<'org'>;
  readonly org_id: Id<'org'>;
  /** First day, `YYYY-MM-DD`. */
  readonly month: string;
  readonly usage_micro: number;
  readonly markup_micro: number;
  readonly burned_micro: number;
  readonly paid_micro: number;
  readonly written_off_micro: number;
  readonly status: 'open' | 'credited';
  readonly accrued_micro: number | null;
  readonly ledger_seq: number | null;
}

const ACCRUAL = `
  child_org_id, org_id, month::text as month, usage_micro, markup_micro, burned_micro, paid_micro, written_off_micro,
  status, accrued_micro, ledger_seq`;

/** A customer with where its book is. */
export interface CountedChild {
  readonly id: Id<'org'>;
  readonly parent_org_id: Id<'org'>;
  readonly shard: string;
  readonly live_book_id: number;
}

/** Customers of all resellers, by id beyond `after`. For the job. */
export async function listCounted(db: Db, args: { after: string; limit: number }): Promise<CountedChild[]> {
  const { rows } = await db.query<CountedChild>({
    name: 'resellers.list_counted',
    text: `
      select id, parent_org_id, shard, live_book_id from org
       where parent_org_id is not null and id > $1 order by id limit $2`,
    values: [args.after, args.limit],
  });
  return rows;
}

/** How far the book of a customer is counted, locked until the transaction ends: counting takes turns. */
export async function lockPlace(db: Db, child: CountedChild): Promise<number> {
  const { rows } = await db.query<{ seq: number }>({
    name: 'resellers.lock_accrual_place',
    text: `
      insert into reseller_accrual_place as place (child_org_id, org_id) values ($1, $2)
      on conflict (child_org_id) do update set seq = place.seq returning seq`,
    values: [child.id, child.parent_org_id],
  });
  return rows[0]?.seq as number;
}

/** Moves the place, which is locked. */
export async function movePlace(db: Db, args: { child_org_id: Id<'org'>; seq: number }): Promise<void> {
  await db.query({
    name: 'resellers.move_accrual_place',
    text: 'update reseller_accrual_place set seq = $2 where child_org_id = $1',
    values: [args.child_org_id, args.seq],
  });
}

/** How far the use of each lot of a customer is counted. */
export async function listCountedLots(
  db: Db,
  child_org_id: Id<'org'>,
): Promise<{ lot_id: string; counted_micro: number }[]> {
  const { rows } = await db.query<{ lot_id: string; counted_micro: number }>({
    name: 'resellers.list_accrual_lots',
    text: 'select lot_id, counted_micro from reseller_accrual_lot where child_org_id = $1',
    values: [child_org_id],
  });
  return rows;
}

/** Notes how far a lot is counted. */
export async function putCountedLot(
  db: Db,
  args: { child: CountedChild; lot_id: string; counted_micro: number },
): Promise<void> {
  await db.query({
    name: 'resellers.put_accrual_lot',
    text: `
      insert into reseller_accrual_lot as lot (child_org_id, lot_id, org_id, counted_micro) values ($1, $2, $3, $4)
      on conflict (child_org_id, lot_id) do update set counted_micro = greatest(lot.counted_micro, $4)`,
    values: [args.child.id, args.lot_id, args.child.parent_org_id, args.counted_micro],
  });
}

type Figures = Pick<
  Accrual,
  'usage_micro' | 'markup_micro' | 'burned_micro' | 'paid_micro' | 'written_off_micro'
>;

/** Adds to a month of a customer; false where that month is credited already, and nothing was added. */
export async function addToMonth(
  db: Db,
  args: { child: CountedChild; month: string; figures: Figures },
): Promise<boolean> {
  const { usage_micro, markup_micro, burned_micro, paid_micro, written_off_micro } = args.figures;
  const { rowCount } = await db.query({
    name: 'resellers.add_to_accrual',
    text: `
      insert into reseller_accrual as known (child_org_id, org_id, month, usage_micro, markup_micro, burned_micro,
                                             paid_micro, written_off_micro)
      values ($1, $2, $3, $4, $5, $6, $7, $8)
      on conflict (child_org_id, month) do update
         set usage_micro = known.usage_micro + $4, markup_micro = known.markup_micro + $5,
             burned_micro = known.burned_micro + $6, paid_micro = known.paid_micro + $7,
             written_off_micro = known.written_off_micro + $8
       where known.status = 'open'`,
    values: [
      ...[args.child.id, args.child.parent_org_id, args.month],
      ...[usage_micro, markup_micro, burned_micro, paid_micro, written_off_micro],
    ],
  });
  return rowCount === 1;
}

/** Months before `before` that are not credited, or whose entry is not known yet, with their customer. For the job. */
export async function listDueAccruals(
  db: Db,
  args: { before: string; limit: number },
): Promise<(Accrual & Pick<CountedChild, 'shard' | 'live_book_id'>)[]> {
  const { rows } = await db.query<Accrual & Pick<CountedChild, 'shard' | 'live_book_id'>>({
    name: 'resellers.list_due_accruals',
    text: `
      select a.*, org.shard, org.live_book_id
        from (select ${ACCRUAL} from reseller_accrual
               where month < $1::date and (status = 'open' or ledger_seq is null and accrued_micro > 0)
               order by month, child_org_id limit $2) a
        join org on org.id = a.child_org_id`,
    values: [args.before, args.limit],
  });
  return rows;
}

/** A month of a customer, locked until the transaction ends. */
export async function lockAccrual(
  db: Db,
  args: Pick<Accrual, 'child_org_id' | 'month'>,
): Promise<Accrual | null> {
  const { rows } = await db.query<Accrual>({
    name: 'resellers.lock_accrual',
    text: `select ${ACCRUAL} from reseller_accrual where child_org_id = $1 and month = $2 for update`,
    values: [args.child_org_id, args.month],
  });
  return rows[0] ?? null;
}

/** Ends an open month, which is locked, with what is credited for it. */
export async function endMonth(
  db: Db,
  args: Pick<Accrual, 'child_org_id' | 'month'> & { accrued_micro: number },
): Promise<void> {
  await db.query({
    name: 'resellers.end_accrual',
    text: `
      update reseller_accrual set status = 'credited', accrued_micro = $3
       where child_org_id = $1 and month = $2 and status = 'open'`,
    values: [args.child_org_id, args.month, args.accrued_micro],
  });
}

/** Notes the entry of what was credited. */
export async function noteEntry(
  db: Db,
  args: Pick<Accrual, 'child_org_id' | 'month'> & { ledger_seq: number },
): Promise<void> {
  await db.query({
    name: 'resellers.note_accrual_entry',
    text: `
      update reseller_accrual set ledger_seq = $3 where child_org_id = $1 and month = $2 and ledger_seq is null`,
    values: [args.child_org_id, args.month, args.ledger_seq],
  });
}

/** A page of the months of a reseller, newest first and then by customer, strictly after `after`. */
export async function listAccruals(
  db: Db,
  args: {
    org_id: Id<'org'>;
    month: string | null;
    child_org_id: string | null;
    after: { at: number; id: string } | null;
    limit: number;
  },
): Promise<Accrual[]> {
  const { rows } = await db.query<Accrual>({
    name: 'resellers.list_accruals',
    text: `
      select ${ACCRUAL} from reseller_accrual
       where org_id = $1 and ($2::date is null or month = $2) and ($3::text is null or child_org_id = $3)
         and ($4::date is null or month < $4 or month = $4 and child_org_id > $5)
       order by month desc, child_org_id limit $6`,
    values: [
      ...[args.org_id, args.month, args.child_org_id],
      args.after === null ? null : new Date(args.after.at).toISOString().slice(0, 10),
      ...[args.after?.id ?? null, args.limit],
    ],
  });
  return rows;
}
