// Sums over documents, for accounts.
import type { Db } from '../kernel/index.ts';

/** Documents that were issued in a time, in the smallest unit of their currency. */
export interface DocumentTotal {
  readonly currency: string;
  readonly credit_notes: boolean;
  /** Of resellers, whose the tax is. */
  readonly of_resellers: boolean;
  readonly taxable: bigint;
  readonly tax: bigint;
}

/** Documents issued from `from` on and before `to`, by currency; credit notes and those of resellers apart from the others. */
export async function sumDocuments(db: Db, of: { from: Date | null; to: Date }): Promise<DocumentTotal[]> {
  const { rows } = await db.query<
    Pick<DocumentTotal, 'currency' | 'credit_notes' | 'of_resellers'> & { taxable: string; tax: string }
  >({
    name: 'invoices.sum_documents',
    text: `
      select currency, kind = 'credit_note' as credit_notes, supplier_id <> 'platform' as of_resellers, sum(taxable_minor)::text as taxable,
             sum(cgst_minor + sgst_minor + igst_minor)::text as tax
        from invoice
       where issued_at >= coalesce($1, '-infinity'::timestamptz) and issued_at < $2 group by 1, 2, 3`,
    values: [of.from, of.to],
  });
  return rows.map((row) => ({ ...row, taxable: BigInt(row.taxable), tax: BigInt(row.tax) }));
}
