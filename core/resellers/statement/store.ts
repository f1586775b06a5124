// SQL of what moved in the books of customers, by month.
import type { Db, Id } from '../../kernel/index.ts';
import type { CountedChild } from '../accruals/store.ts';

/** What moved a balance in a month, each figure positive as its name says; `other_micro` is signed. */
export interface Moved {
  readonly charged_micro: number;
  readonly sold_micro: number;
  readonly refunded_micro: number;
  readonly given_micro: number;
  readonly reclaimed_micro: number;
  readonly other_micro: number;
}

/** Adds to a month of a customer, whose place is locked. */
export async function addMoved(
  db: Db,
  { child, month, moved }: { child: CountedChild; month: string; moved: Moved },
): Promise<void> {
  await db.query({
    name: 'resellers.add_moved',
    text: `
      insert into reseller_month as known (child_org_id, org_id, month, charged_micro, sold_micro, refunded_micro,
                                           given_micro, reclaimed_micro, other_micro)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
      on conflict (child_org_id, month) do update
         set charged_micro = known.charged_micro + $4, sold_micro = known.sold_micro + $5,
             refunded_micro = known.refunded_micro + $6, given_micro = known.given_micro + $7,
             reclaimed_micro = known.reclaimed_micro + $8, other_micro = known.other_micro + $9`,
    values: [
      ...[child.id, child.parent_org_id, month, moved.charged_micro, moved.sold_micro],
      ...[moved.refunded_micro, moved.given_micro, moved.reclaimed_micro, moved.other_micro],
    ],
  });
}

/** A customer in a month: what moved in its book, and what the reseller earned of it. */
export interface StatementRow extends Moved {
  readonly child_org_id: Id<'org'>;
  readonly usage_micro: number;
  readonly markup_micro: number;
  readonly written_off_micro: number;
  /** Null: the month is open. */
  readonly accrued_micro: number | null;
  readonly burned_micro: number;
  readonly paid_micro: number;
}

/** The customers of a reseller with anything in `month`, by id. */
export async function listStatement(
  db: Db,
  args: { org_id: Id<'org'>; month: string; limit: number },
): Promise<StatementRow[]> {
  const { rows } = await db.query<StatementRow>({
    name: 'resellers.list_statement',
    text: `
      select child_org_id, coalesce(m.charged_micro, 0) as charged_micro, coalesce(m.sold_micro, 0) as sold_micro,
             coalesce(m.refunded_micro, 0) as refunded_micro, coalesce(m.given_micro, 0) as given_micro,
             coalesce(m.reclaimed_micro, 0) as reclaimed_micro, coalesce(m.other_micro, 0) as other_micro,
             coalesce(a.usage_micro, 0) as usage_micro, coalesce(a.markup_micro, 0) as markup_micro,
             coalesce(a.written_off_micro, 0) as written_off_micro, coalesce(a.burned_micro, 0) as burned_micro,
             coalesce(a.paid_micro, 0) as paid_micro, a.accrued_micro
        from (select * from reseller_month where org_id = $1 and month = $2) m
        full join (select * from reseller_accrual where org_id = $1 and month = $2) a using (child_org_id)
       order by child_org_id limit $3`,
    values: [args.org_id, args.month, args.limit],
  });
  return rows;
}
