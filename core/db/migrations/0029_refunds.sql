-- compatible_from: 0028
-- Refunds of top-ups: what was asked for here, and what rails report of money that went back.

create table refund (
  id text primary key check (id ~ '^rfd_[0-9A-HJKMNP-TV-Z]{26}$'),
  org_id text not null references org,
  topup_id text not null references topup,
  book_id bigint not null,
  gateway text not null check (gateway in ('rail-a', 'rail-b')),
  -- The payment that goes back, and the rail's own name of the refund; null until the rail has it.
  payment_ref text not null,
  gateway_ref text,
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  amount_minor bigint not null check (amount_minor > 0),
  cgst_minor bigint not null check (cgst_minor >= 0),
  sgst_minor bigint not null check (sgst_minor >= 0),
  igst_minor bigint not null check (igst_minor >= 0),
  total_minor bigint not null,
  fx_rate numeric(20, 8) not null,
  credits_micro bigint not null check (credits_micro >= 0),
  -- `request`: somebody here asked; `rail`: it was made at the rail and nobody here asked.
  source text not null check (source in ('request', 'rail')),
  reason text not null,
  -- What was asked for; null: all that could go back.
  requested_minor bigint,
  idempotency_key text,
  status text not null check (status in ('pending', 'refunded', 'failed')),
  failure_code text,
  credit_note_id text references invoice,
  -- When the rail was first asked; from then on it is asked whether it has the refund before anything is sent again.
  sent_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  settled_at timestamptz,
  constraint refund_total_is_the_sum check (total_minor = amount_minor + cgst_minor + sgst_minor + igst_minor),
  constraint refund_settled_iff_refunded check ((settled_at is not null) = (status = 'refunded')),
  constraint refund_refunded_has_everything
    check (status <> 'refunded' or (credit_note_id is not null and gateway_ref is not null)),
  constraint refund_failed_says_why check ((status = 'failed') = (failure_code is not null))
);
create unique index refund_one_at_a_time on refund (topup_id) where status = 'pending';
create unique index refund_key_once on refund (topup_id, idempotency_key) where idempotency_key is not null;
create unique index refund_rail_ref_once on refund (gateway, gateway_ref) where gateway_ref is not null;
create index refund_of_topup on refund (topup_id, created_at);
create index refund_walk on refund (org_id, created_at desc, id desc);
create index refund_of_staff on refund (created_at desc, id desc) where status <> 'refunded';

-- What a rail says of each refund that it has of a payment of ours.
create table rail_refund (
  rail text not null,
  ref text not null,
  topup_id text not null references topup,
  -- Ours, once it is known which.
  refund_id text references refund,
  amount_minor bigint not null check (amount_minor > 0),
  currency text not null,
  status text not null check (status in ('pending', 'refunded', 'failed')),
  seen_at timestamptz not null,
  primary key (rail, ref)
);
create index rail_refund_unclaimed on rail_refund (seen_at) where refund_id is null;

revoke delete, truncate on refund, rail_refund from svc_runtime;
