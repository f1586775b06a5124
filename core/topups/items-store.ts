// SQL of staff items as the staff read and close them; what raises and ends them by itself is in rail-store.ts.
import type { Db, Id } from '../kernel/index.ts';
import type { EventFacts } from './rail-store.ts';
import type { TopupStatus } from './types.ts';

/** A matter that is before the staff, with the top-up and the organization that it is about, where it names one. */
export interface OpenItem {
  readonly staff_item_id: number;
  readonly kind: string;
  readonly subject: string;
  readonly details: EventFacts;
  readonly created_at: Date;
  readonly resolved_at: Date | null;
  readonly topup_id: Id<'topup'> | null;
  readonly topup_status: TopupStatus | null;
  readonly org_id: Id<'org'> | null;
  readonly org_name: string | null;
  /** Number of the document of the top-up. */
  readonly invoice_number: string | null;
}

// An item names a top-up in its details or is about one; one that names none may name an organization.
const FROM = `
  select s.staff_item_id, s.kind, s.subject, s.details, s.created_at, s.resolved_at,
         t.id as topup_id, t.status as topup_status, coalesce(t.org_id, s.details->>'org_id') as org_id,
         o.name as org_name, i.number as invoice_number
    from staff_item s left join topup t on t.id = coalesce(s.details->>'topup_id', s.subject)
         left join org o on o.id = coalesce(t.org_id, s.details->>'org_id')
         left join invoice i on i.id = t.invoice_id`;

/** Items that nobody has resolved, oldest first, strictly after `after`; of `org_id` alone where one is given. */
export async function listOpenItems(
  db: Db,
  args: { org_id: Id<'org'> | null; after: { at: Date; id: number } | null; limit: number },
): Promise<OpenItem[]> {
  const { rows } = await db.query<OpenItem>({
    name: 'topups.list_open_items',
    text: `${FROM}
       where s.resolved_at is null
         and ($1::text is null or coalesce(t.org_id, s.details->>'org_id') = $1)
         and ($2::timestamptz is null or (s.created_at, s.staff_item_id) > ($2, $3))
       order by s.created_at, s.staff_item_id limit $4`,
    values: [args.org_id, args.after?.at ?? null, args.after?.id ?? null, args.limit],
  });
  return rows;
}

/** The item with this id, locked until the transaction ends; null when there is none. */
export async function lockItem(db: Db, staff_item_id: number): Promise<OpenItem | null> {
  const { rows } = await db.query<OpenItem>({
    name: 'topups.lock_item',
    text: `${FROM} where s.staff_item_id = $1 for update of s`,
    values: [staff_item_id],
  });
  return rows[0] ?? null;
}

/** Notes that a person has ended an item that was open. */
export async function closeItem(db: Db, args: { staff_item_id: number; at: Date }): Promise<void> {
  await db.query({
    name: 'topups.close_item',
    text: 'update staff_item set resolved_at = $2 where staff_item_id = $1 and resolved_at is null',
    values: [args.staff_item_id, args.at],
  });
}
