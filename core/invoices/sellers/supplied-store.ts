// SQL of the documents that a reseller supplied. They are rows of its customers, so every statement names the supplier.
import type { Db, Id } from '../../kernel/index.ts';
import type { Invoice, InvoiceId, InvoiceKind } from '../types.ts';

/** A document of a reseller; null when it has none of this id. */
export async function findSupplied(
  db: Db,
  args: { supplier_id: Id<'org'>; id: InvoiceId },
): Promise<Invoice | null> {
  const { rows } = await db.query<Invoice>({
    name: 'invoices.find_supplied',
    text: `
      select i.*, o.number as original_number, o.issued_at as original_issued_at
        from invoice i left join invoice o on o.id = i.original_invoice_id
       where i.supplier_id = $1 and i.supplier_id <> 'platform' and i.id = $2`,
    values: [args.supplier_id, args.id],
  });
  return rows[0] ?? null;
}

/** A page of the documents of a reseller, newest first, strictly after `before`. */
export async function listSupplied(
  db: Db,
  args: {
    supplier_id: Id<'org'>;
    kind: InvoiceKind | null;
    child_org_id: string | null;
    before: { at: Date; id: string } | null;
    limit: number;
  },
): Promise<Invoice[]> {
  const { rows } = await db.query<Invoice>({
    name: 'invoices.list_supplied',
    text: `
      select i.*, o.number as original_number, o.issued_at as original_issued_at
        from invoice i left join invoice o on o.id = i.original_invoice_id
       where i.supplier_id = $1 and i.supplier_id <> 'platform'
         and ($2::text is null or i.kind = $2) and ($3::text is null or i.org_id = $3)
         and ($4::timestamptz is null or (i.issued_at, i.id) < ($4, $5))
       order by i.issued_at desc, i.id desc limit $6`,
    values: [
      ...[args.supplier_id, args.kind, args.child_org_id],
      ...[args.before?.at ?? null, args.before?.id ?? null, args.limit],
    ],
  });
  return rows;
}
