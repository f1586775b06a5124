// SQL of documents.
import type { Db, Id } from '../kernel/index.ts';
import type { ReturnDocument } from './returns.ts';
import type { Invoice, InvoiceId, InvoiceKind, TaxParts } from './types.ts';

/**
 * The next number of a series. The row stays locked until the transaction ends: documents of one supplier take turns,
 * and one that is rolled back leaves no gap (invariant IN1).
 */
export async function nextNumber(
  db: Db,
  args: { supplier: string; series: string; fy: string },
): Promise<number> {
  const { rows } = await db.query<{ last_no: number }>({
    name: 'invoices.next_number',
    text: `
      insert into invoice_counter (supplier, series, fy, last_no) values ($1, $2, $3, 1)
      on conflict (supplier, series, fy) do update set last_no = invoice_counter.last_no + 1
      returning last_no`,
    values: [args.supplier, args.series, args.fy],
  });
  return rows[0]!.last_no;
}

/** A document as it is issued: without what is only known later. */
export type NewInvoice = Omit<
  Invoice,
  | 'status'
  | 'original_number'
  | 'original_issued_at'
  | 'irn'
  | 'irn_qr'
  | 'ack_no'
  | 'ack_at'
  | 'pdf_sha256'
  | 'sent_at'
>;

/** Inserts a document as it was issued. */
export async function insertInvoice(db: Db, invoice: NewInvoice): Promise<void> {
  await db.query({
    name: 'invoices.insert',
    text: `
      insert into invoice (id, org_id, supplier_id, number, fy, kind, currency, place_of_supply, supplier, recipient,
                           lines, hsn_sac, tax_rate_bps, taxable_minor, cgst_minor, sgst_minor, igst_minor,
                           total_minor, endorsement, fx_rate, inr_rate, credits_micro, topup_id, refund_id,
                           original_invoice_id, payment_ref, irn_status, issued_at)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22,
              $23, $24, $25, $26, $27, $28)`,
    values: [
      invoice.id,
      invoice.org_id,
      invoice.supplier_id,
      invoice.number,
      invoice.fy,
      invoice.kind,
      invoice.currency,
      invoice.place_of_supply,
      JSON.stringify(invoice.supplier),
      JSON.stringify(invoice.recipient),
      JSON.stringify(invoice.lines),
      invoice.hsn_sac,
      invoice.tax_rate_bps,
      invoice.taxable_minor,
      invoice.cgst_minor,
      invoice.sgst_minor,
      invoice.igst_minor,
      invoice.total_minor,
      invoice.endorsement,
      invoice.fx_rate,
      invoice.inr_rate,
      invoice.credits_micro,
      invoice.topup_id,
      invoice.refund_id,
      invoice.original_invoice_id,
      invoice.payment_ref,
      invoice.irn_status,
      invoice.issued_at,
    ],
  });
}

/** A document of `org_id`; null when it is missing or another organization's. */
export async function findInvoice(db: Db, args: { org_id: Id<'org'>; id: string }): Promise<Invoice | null> {
  const { rows } = await db.query<Invoice>({
    name: 'invoices.find',
    text: `
      select i.*, o.number as original_number, o.issued_at as original_issued_at
        from invoice i left join invoice o on o.id = i.original_invoice_id
       where i.org_id = $1 and i.id = $2`,
    values: [args.org_id, args.id],
  });
  return rows[0] ?? null;
}

/** A document, whosever it is; null when there is none. For programs that act for nobody. */
export async function findDocument(db: Db, id: InvoiceId): Promise<Invoice | null> {
  const { rows } = await db.query<Invoice>({
    name: 'invoices.find_document',
    text: `
      select i.*, o.number as original_number, o.issued_at as original_issued_at
        from invoice i left join invoice o on o.id = i.original_invoice_id where i.id = $1`,
    values: [id],
  });
  return rows[0] ?? null;
}

/** Notes the registration of a document that waits for it; false when it waits no more. */
export async function markRegistered(
  db: Db,
  args: { id: InvoiceId; irn: string; ack_no: string; ack_at: Date; qr: string },
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'invoices.mark_registered',
    text: `
      update invoice set irn_status = 'generated', irn = $2, ack_no = $3, ack_at = $4, irn_qr = $5
       where id = $1 and irn_status = 'pending'`,
    values: [args.id, args.irn, args.ack_no, args.ack_at, args.qr],
  });
  return rowCount === 1;
}

/** Notes that a document gets no registration; false when it does not wait for one. */
export async function endRegistration(db: Db, id: InvoiceId): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'invoices.end_registration',
    text: `update invoice set irn_status = 'failed' where id = $1 and irn_status = 'pending'`,
    values: [id],
  });
  return rowCount === 1;
}

/** Lets a document wait again whose registration failed; false when it has not. */
export async function reopenRegistration(db: Db, id: InvoiceId): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'invoices.reopen_registration',
    text: `update invoice set irn_status = 'pending' where id = $1 and irn_status = 'failed'`,
    values: [id],
  });
  return rowCount === 1;
}

/** The document of a number of the platform's own series; null when there is none. */
export async function findNumbered(db: Db, number: string): Promise<Invoice | null> {
  const { rows } = await db.query<{ id: InvoiceId }>({
    name: 'invoices.find_numbered',
    text: `select id from invoice where supplier_id = 'platform' and number = $1`,
    values: [number],
  });
  return rows[0] === undefined ? null : findDocument(db, rows[0].id);
}

/** A document as people call it. */
export interface NamedDocument {
  readonly id: InvoiceId;
  readonly number: string;
}

/** The invoice of each of these top-ups and the credit note of each of these refunds, by the id of what it is about. */
export async function findDocumentsOf(
  db: Db,
  args: { topup_ids: readonly string[]; refund_ids: readonly string[] },
): Promise<ReadonlyMap<string, NamedDocument>> {
  if (args.topup_ids.length + args.refund_ids.length === 0) return new Map();
  const { rows } = await db.query<NamedDocument & { about: string }>({
    name: 'invoices.find_of',
    text: `
      select topup_id as about, id, number from invoice where topup_id = any($1) and kind <> 'credit_note'
      union all
      select refund_id as about, id, number from invoice where refund_id = any($2)`,
    values: [args.topup_ids, args.refund_ids],
  });
  return new Map(rows.map(({ about, ...document }) => [about, document]));
}

/**
 * A document of `org_id`, locked until the transaction ends, so that its credit notes are issued one after the other;
 * null when it is missing or another organization's.
 */
export async function lockInvoice(
  db: Db,
  args: { org_id: Id<'org'>; id: InvoiceId },
): Promise<Invoice | null> {
  const { rows } = await db.query<Invoice>({
    name: 'invoices.lock',
    text: `
      select i.*, null as original_number, null as original_issued_at from invoice i where i.org_id = $1 and i.id = $2 for update`,
    values: [args.org_id, args.id],
  });
  return rows[0] ?? null;
}

/** What the credit notes of a document have taken back of it. */
export async function creditedSoFar(
  db: Db,
  original_invoice_id: string,
): Promise<TaxParts & { readonly taxable_minor: number }> {
  const { rows } = await db.query<TaxParts & { taxable_minor: number }>({
    name: 'invoices.credited_so_far',
    text: `
      select coalesce(sum(taxable_minor), 0)::bigint as taxable_minor,
             coalesce(sum(cgst_minor), 0)::bigint as cgst_minor,
             coalesce(sum(sgst_minor), 0)::bigint as sgst_minor,
             coalesce(sum(igst_minor), 0)::bigint as igst_minor
        from invoice where original_invoice_id = $1 and status = 'issued'`,
    values: [original_invoice_id],
  });
  return rows[0]!;
}

/** Documents of `org_id`, newest first, strictly after `before`. */
export async function listInvoices(
  db: Db,
  args: {
    org_id: Id<'org'>;
    kind: InvoiceKind | null;
    before: { at: Date; id: string } | null;
    limit: number;
  },
): Promise<Invoice[]> {
  const { rows } = await db.query<Invoice>({
    name: 'invoices.list',
    text: `
      select i.*, o.number as original_number, o.issued_at as original_issued_at
        from invoice i left join invoice o on o.id = i.original_invoice_id
       where i.org_id = $1 and ($2::text is null or i.kind = $2)
         and ($3::timestamptz is null or (i.issued_at, i.id) < ($3, $4))
       order by i.issued_at desc, i.id desc limit $5`,
    values: [args.org_id, args.kind, args.before?.at ?? null, args.before?.id ?? null, args.limit],
  });
  return rows;
}

/** Notes that a document was sent; the first time stays. */
export async function markSent(db: Db, args: { id: string; at: Date }): Promise<void> {
  await db.query({
    name: 'invoices.mark_sent',
    text: 'update invoice set sent_at = $2 where id = $1 and sent_at is null',
    values: [args.id, args.at],
  });
}

/** Whether a file shows the registration (IRN) of its document, and its bytes. */
export interface InvoiceFile {
  readonly sha256: string;
  readonly pdf: Buffer;
}

/** The file of a document; null when there is none yet. */
export async function findFile(
  db: Db,
  args: { invoice_id: InvoiceId; registered: boolean },
): Promise<InvoiceFile | null> {
  const { rows } = await db.query<InvoiceFile>({
    name: 'invoices.find_file',
    text: 'select sha256, pdf from invoice_file where invoice_id = $1 and registered = $2',
    values: [args.invoice_id, args.registered],
  });
  return rows[0] ?? null;
}

/** Keeps the file of a document, unless it has one: what was sent out first stays. */
export async function keepFile(
  db: Db,
  file: InvoiceFile & { invoice_id: InvoiceId; registered: boolean; at: Date },
): Promise<void> {
  await db.query({
    name: 'invoices.keep_file',
    text: `
      with kept as (
        insert into invoice_file (invoice_id, registered, sha256, pdf, made_at) values ($1, $2, $3, $4, $5)
        on conflict (invoice_id, registered) do nothing
        returning invoice_id, sha256)
      update invoice set pdf_sha256 = kept.sha256 from kept
       where invoice.id = kept.invoice_id and (invoice.irn is not null) = $2`,
    values: [file.invoice_id, file.registered, file.sha256, file.pdf, file.at],
  });
}

/** The documents of a supplier from `from` until before `to`, in the order of their numbers within each series. */
export async function listIssued(
  db: Db,
  args: { supplier_id: string; from: Date; to: Date },
): Promise<ReturnDocument[]> {
  const { rows } = await db.query<ReturnDocument>({
    name: 'invoices.list_issued',
    text: `
      select i.*, o.number as original_number, o.issued_at as original_issued_at, o.total_minor as original_total_minor
        from invoice i left join invoice o on o.id = i.original_invoice_id
       where i.supplier_id = $1 and i.issued_at >= $2 and i.issued_at < $3
       order by i.issued_at, i.id`,
    values: [args.supplier_id, args.from, args.to],
  });
  return rows;
}
