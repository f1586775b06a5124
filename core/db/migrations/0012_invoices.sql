-- compatible_from: 0012
-- Tax invoices, credit notes and receipts.

-- The last number of a series of a supplier in a financial year; locked and raised in the transaction that inserts
-- the document, so that an aborted one leaves no gap.
create table invoice_counter (
  supplier text not null,
  series text not null check (series ~ '^[A-Z][A-Z0-9]{0,3}$'),
  fy text not null check (fy ~ '^\d\d-\d\d$'),
  last_no int not null check (last_no >= 1),
  primary key (supplier, series, fy)
);

create table invoice (
  id text primary key check (id ~ '^(inv|cn)_[0-9A-HJKMNP-TV-Z]{26}$'),
  org_id text not null references org,
  -- `platform`, or the reseller that supplies.
  supplier_id text not null,
  number text not null check (char_length(number) <= 16),
  fy text not null,
  kind text not null check (kind in ('tax_invoice', 'export_invoice', 'credit_note', 'receipt')),
  status text not null default 'issued' check (status in ('issued', 'cancelled')),
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  place_of_supply text not null,
  supplier jsonb not null,
  recipient jsonb not null,
  lines jsonb not null,
  hsn_sac text not null,
  tax_rate_bps int not null check (tax_rate_bps >= 0),
  taxable_minor bigint not null check (taxable_minor >= 0),
  cgst_minor bigint not null check (cgst_minor >= 0),
  sgst_minor bigint not null check (sgst_minor >= 0),
  igst_minor bigint not null check (igst_minor >= 0),
  total_minor bigint not null,
  endorsement text not null default '',
  fx_rate numeric(20, 8) not null,
  credits_micro bigint not null,
  topup_id text,
  refund_id text,
  original_invoice_id text references invoice,
  irn_status text not null check (irn_status in ('not_applicable', 'pending', 'generated', 'cancelled', 'failed')),
  irn text,
  irn_qr text,
  ack_no text,
  ack_at timestamptz,
  pdf_sha256 text,
  issued_at timestamptz not null,
  sent_at timestamptz,
  constraint invoice_number_once unique (supplier_id, number),
  constraint invoice_total_is_the_sum check (total_minor = taxable_minor + cgst_minor + sgst_minor + igst_minor),
  constraint invoice_tax_is_of_one_state_or_two check (cgst_minor = sgst_minor and (igst_minor = 0 or cgst_minor = 0)),
  constraint invoice_receipt_has_no_tax check (kind <> 'receipt' or total_minor = taxable_minor),
  constraint invoice_credit_note_names_original check ((kind = 'credit_note') = (original_invoice_id is not null))
);
create unique index invoice_topup_once on invoice (topup_id) where kind <> 'credit_note';
create index invoice_walk on invoice (org_id, issued_at desc, id desc);

-- Issued documents are immutable: programs may change delivery and registration alone, and delete nothing.
revoke update, delete, truncate on invoice from svc_runtime;
grant update (irn_status, irn, irn_qr, ack_no, ack_at, pdf_sha256, sent_at) on invoice to svc_runtime;
revoke delete, truncate on invoice_counter from svc_runtime;
