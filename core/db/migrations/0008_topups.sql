-- Money in: quotes, top-ups, what rails said, invoices; and starts of workflows, written with the fact that wants one.

-- ------------------------------------------------------------------------------------------------ workflows
create table workflow_start (
  workflow_id text primary key check (char_length(workflow_id) between 1 and 128),
  type text not null,
  args jsonb not null,
  created_at timestamptz not null,
  -- When Temporal took it; null: still to be started.
  started_at timestamptz
);
create index workflow_start_waiting on workflow_start (created_at) where started_at is null;

create table workflow_signal (
  signal_id bigint generated always as identity primary key,
  workflow_id text not null references workflow_start,
  name text not null,
  args jsonb not null,
  created_at timestamptz not null,
  sent_at timestamptz
);
create index workflow_signal_waiting on workflow_signal (signal_id) where sent_at is null;

create function announce_workflow() returns trigger language plpgsql as $$
begin
  perform pg_notify('svc_workflow', '');
  return null;
end $$;
create trigger workflow_start_announces after insert on workflow_start
  for each statement execute function announce_workflow();
create trigger workflow_signal_announces after insert on workflow_signal
  for each statement execute function announce_workflow();

-- ------------------------------------------------------------------------------------------------- invoices
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

-- ------------------------------------------------------------------------------------------------- top-ups
-- The rate of a quote binds for 15 minutes (P5.2).
create table topup_quote (
  org_id text not null references org,
  currency text not null,
  amount_minor bigint not null,
  fx_day date not null,
  fx_rate numeric(20, 8) not null,
  quoted_at timestamptz not null,
  primary key (org_id, currency, amount_minor)
);

create table topup (
  id text primary key check (id ~ '^tup_[0-9A-HJKMNP-TV-Z]{26}$'),
  org_id text not null references org,
  book_id bigint not null,
  gateway text not null check (gateway in ('rail-a', 'rail-b')),
  -- Order or session at the rail; null until the rail has answered.
  gateway_ref text,
  -- Payment or payment intent that was booked, or waits in review.
  payment_ref text,
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  amount_minor bigint not null check (amount_minor > 0),
  tax_minor bigint not null check (tax_minor >= 0),
  total_minor bigint not null,
  -- What the rail took; null until it has said so.
  fee_minor bigint,
  fx_day date not null,
  fx_rate numeric(20, 8) not null check (fx_rate > 0),
  credits_micro bigint not null check (credits_micro > 0),
  -- Tax as decided when the price was told: supplier, recipient, place of supply, parts.
  tax jsonb not null,
  method text,
  status text not null default 'pending' check (status in ('pending', 'review', 'paid', 'failed', 'expired')),
  source text not null check (source in ('checkout', 'auto', 'staff')),
  invoice_id text references invoice,
  lot_id text,
  failure_code text,
  failure_message text,
  refunded_minor bigint not null default 0 check (refunded_minor between 0 and total_minor),
  refunded_credits_micro bigint not null default 0 check (refunded_credits_micro between 0 and credits_micro),
  disputed boolean not null default false,
  mandate_id text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  expires_at timestamptz not null,
  paid_at timestamptz,
  constraint topup_total_is_the_sum check (total_minor = amount_minor + tax_minor),
  constraint topup_paid_has_everything check
    ((status = 'paid') = (paid_at is not null and invoice_id is not null and payment_ref is not null and lot_id is not null)),
  constraint topup_order_once unique (gateway, gateway_ref),
  constraint topup_payment_once unique (gateway, payment_ref)
);
create index topup_walk on topup (org_id, created_at desc, id desc);
create index topup_open on topup (org_id) where status = 'pending';

-- What a rail told, once per event; the answer is kept for repeats.
create table rail_event (
  rail text not null check (rail in ('rail-a', 'rail-b')),
  event_id text not null check (char_length(event_id) between 1 and 255),
  type text not null,
  topup_id text,
  payment_ref text,
  -- Ids and amounts of the event, no personal data.
  facts jsonb not null,
  answer jsonb not null,
  received_at timestamptz not null,
  constraint rail_event_once primary key (rail, event_id)
);

-- What is to be done at a rail, each under an idempotency key of its own.
create table rail_task (
  rail_task_id bigint generated always as identity primary key,
  rail text not null check (rail in ('rail-a', 'rail-b')),
  kind text not null check (kind in ('refund_payment', 'close_order')),
  -- Payment or order at the rail.
  ref text not null,
  topup_id text references topup,
  created_at timestamptz not null,
  attempts int not null default 0,
  last_error text,
  next_at timestamptz not null,
  done_at timestamptz,
  constraint rail_task_once unique (rail, kind, ref)
);
create index rail_task_waiting on rail_task (next_at) where done_at is null;

-- What a person of the staff must look at.
create table staff_item (
  staff_item_id bigint generated always as identity primary key,
  kind text not null,
  -- The same matter is one item, however often it is met.
  subject text not null,
  details jsonb not null,
  created_at timestamptz not null,
  resolved_at timestamptz,
  constraint staff_item_once unique (kind, subject)
);
create index staff_item_open on staff_item (created_at) where resolved_at is null;

-- Issued documents are immutable: programs may change delivery and registration alone, and delete nothing.
revoke update, delete, truncate on invoice from svc_runtime;
grant update (irn_status, irn, irn_qr, ack_no, ack_at, pdf_sha256, sent_at) on invoice to svc_runtime;
revoke delete, truncate on topup, rail_event, invoice_counter from svc_runtime;
revoke update on rail_event from svc_runtime;
grant update (topup_id, payment_ref, answer) on rail_event to svc_runtime;
