-- compatible_from: 0019
-- The daily comparison with the books of the payment rails.
create table rail_comparison (
  rail text not null check (rail in ('rail-a', 'rail-b')),
  -- UTC.
  day date not null,
  -- When somebody asked for it out of turn, when it ended, when it last could not be made and why.
  asked_at timestamptz,
  compared_at timestamptz,
  failed_at timestamptz,
  failure text,
  -- What the rail listed.
  counts jsonb not null default '{}',
  -- What differed, or was booked because of it.
  findings jsonb not null default '[]',
  primary key (rail, day)
);

-- Money that a rail sent to our bank, as it says.
create table rail_payout (
  rail text not null check (rail in ('rail-a', 'rail-b')),
  ref text not null,
  amount_minor bigint not null,
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  state text not null check (state in ('under_way', 'paid', 'failed')),
  bank_ref text,
  paid_at timestamptz not null,
  primary key (rail, ref)
);

-- What a payout is made of. Amounts are those of our account at the rail, in its currency.
create table settlement_line (
  rail text not null check (rail in ('rail-a', 'rail-b')),
  kind text not null
    check (kind in ('payment', 'refund', 'refund_back', 'dispute', 'dispute_back', 'fee', 'other')),
  ref text not null check (char_length(ref) between 1 and 255),
  source_ref text,
  payment_ref text,
  topup_id text references topup (id),
  amount_minor bigint not null,
  fee_minor bigint not null,
  -- The part of the fee that no top-up says: of refunds and disputes, or more than was said at the payment.
  extra_fee_minor bigint not null,
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  payout_ref text not null,
  settled_at timestamptz not null,
  seen_at timestamptz not null,
  primary key (rail, kind, ref)
);
create index settlement_line_of_payout on settlement_line (rail, payout_ref);
create index settlement_line_of_payment on settlement_line (rail, payment_ref) where kind = 'payment';
create index settlement_line_of_source on settlement_line (rail, source_ref) where kind = 'refund';
create index settlement_line_fees on settlement_line (settled_at) where extra_fee_minor <> 0;
-- Which payments of a time are ours.
create index topup_paid on topup (gateway, paid_at) where paid_at is not null;
create index topup_of_rail on topup (gateway, created_at);
create index refund_settled on refund (gateway, settled_at) where settled_at is not null;

revoke delete, truncate on rail_comparison, rail_payout, settlement_line from svc_runtime;
revoke update on settlement_line from svc_runtime;
