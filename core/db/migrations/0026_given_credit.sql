-- compatible_from: 0019
-- Credit that is given: daily check-ins, gifts between organizations, and codes of staff.

create table checkin (
  org_id text not null references org,
  -- UTC.
  day date not null,
  amount_micro_usd bigint not null constraint checkin_amount_positive check (amount_micro_usd > 0),
  created_at timestamptz not null,
  constraint checkin_once_a_day primary key (org_id, day)
);

create table gift (
  id text primary key check (id ~ '^gift_[0-9A-HJKMNP-TV-Z]{26}$'),
  org_id text not null references org,
  amount_micro_usd bigint not null
    constraint gift_amount_in_range check (amount_micro_usd between 1000000 and 500000000),
  code_hash bytea not null constraint gift_code_once unique,
  hint text not null,
  note text not null,
  status text not null check (status in ('pending', 'open', 'redeemed', 'cancelled')),
  redeemed_by text references org,
  expires_at timestamptz not null,
  created_at timestamptz not null,
  closed_at timestamptz,
  constraint gift_closed_at_iff_closed check ((closed_at is not null) = (status in ('redeemed', 'cancelled'))),
  constraint gift_redeemed_by_another check
    ((redeemed_by is not null) = (status = 'redeemed') and redeemed_by <> org_id)
);
create index gift_walk on gift (org_id, created_at desc, id desc);
create index gift_open on gift (expires_at) where status = 'open';
create index gift_pending on gift (created_at) where status = 'pending';

-- Codes that staff hand out, made a batch at a time.
create table redeem_batch (
  batch_id bigint generated always as identity primary key,
  name text not null constraint redeem_batch_name_once unique,
  amount_micro_usd bigint not null constraint batch_amount_positive check (amount_micro_usd > 0),
  codes int not null constraint batch_has_codes check (codes between 1 and 10000),
  -- Until the credit of a code ends, from its redemption on.
  credit_days int not null check (credit_days > 0),
  valid_until timestamptz not null,
  max_per_org int not null default 1 check (max_per_org > 0),
  country text check (country ~ '^[A-Z]{2}$'),
  new_org_only boolean not null default false,
  created_by text not null,
  created_at timestamptz not null,
  closed_at timestamptz
);
create table redeem_code (
  code_hash bytea primary key,
  batch_id bigint not null references redeem_batch,
  -- Set by the redemption, once.
  redemption_id text
);
create index redeem_code_of_batch on redeem_code (batch_id);

create table redemption (
  id text primary key check (id ~ '^red_[0-9A-HJKMNP-TV-Z]{26}$'),
  org_id text not null references org,
  batch_id bigint references redeem_batch,
  gift_id text constraint redemption_of_gift_once unique references gift,
  amount_micro_usd bigint not null,
  credit_expires_at timestamptz not null,
  -- Once the ledger has booked it.
  ledger_seq bigint,
  created_at timestamptz not null,
  constraint redemption_is_of_a_code_or_a_gift check ((batch_id is null) <> (gift_id is null))
);
create index redemption_walk on redemption (org_id, created_at desc, id desc);
create index redemption_of_batch on redemption (batch_id, org_id);

-- Codes that did not exist, by who tried them.
create table redeem_miss (
  subject text primary key,
  misses int not null,
  since timestamptz not null
);

revoke delete, truncate on checkin, redemption from svc_runtime;
