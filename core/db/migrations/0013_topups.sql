-- compatible_from: 0013
-- Money in: quotes, top-ups, what rails said and what is to be done at them.

-- The rate of a quote binds for 15 minutes.
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

-- Events of rails that named no payment of ours are forgotten after a while; what names one stays with the books, and
-- programs cannot delete it.
create index rail_event_of_nobody on rail_event (received_at) where topup_id is null and payment_ref is null;

create function purge_rail_events(p_before timestamptz) returns int
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_deleted int;
begin
  delete from public.rail_event where received_at < p_before and topup_id is null and payment_ref is null;
  get diagnostics v_deleted = row_count;
  return v_deleted;
end $$;
revoke execute on function purge_rail_events(timestamptz) from public;
grant execute on function purge_rail_events(timestamptz) to svc_runtime;

-- What rails said stays as it was said; programs delete nothing that belongs to the books.
revoke delete, truncate on topup, rail_event from svc_runtime;
revoke update on rail_event from svc_runtime;
grant update (topup_id, payment_ref, answer) on rail_event to svc_runtime;
