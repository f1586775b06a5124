-- compatible_from: 0054
-- What resellers earn: counted from the ledgers entry by entry and range by range, each once, and credited on the third of
-- the next month.

-- How far the entries of a customer's book are counted.
create table reseller_accrual_place (
  child_org_id text primary key references org,
  -- The reseller.
  org_id text not null references org,
  seq bigint not null default 0
);
select fence_org('reseller_accrual_place');

-- How far the calls' use of each lot of a customer is counted.
create table reseller_accrual_lot (
  child_org_id text not null references org,
  lot_id text not null,
  -- The reseller.
  org_id text not null references org,
  counted_micro bigint not null check (counted_micro > 0),
  primary key (child_org_id, lot_id)
);
select fence_org('reseller_accrual_lot');

create table reseller_accrual (
  child_org_id text not null references org,
  -- First day, UTC.
  month date not null check (extract(day from month) = 1),
  -- The reseller.
  org_id text not null references org,
  -- What calls cost the customer, and how much of it is above catalog prices.
  usage_micro bigint not null default 0,
  markup_micro bigint not null default 0,
  -- Credit that calls used, and how much of it was paid or given by the reseller.
  burned_micro bigint not null default 0,
  paid_micro bigint not null default 0,
  -- What calls, refunds and lost disputes asked for and did not find.
  written_off_micro bigint not null default 0,
  status text not null default 'open' check (status in ('open', 'credited')),
  -- What was credited; null while open.
  accrued_micro bigint check (accrued_micro >= 0),
  ledger_seq bigint,
  primary key (child_org_id, month),
  constraint accrual_adds_up check (
    usage_micro >= markup_micro and markup_micro >= 0 and burned_micro >= paid_micro and paid_micro >= 0
    and written_off_micro >= 0),
  constraint accrual_is_known_iff_credited check ((status = 'credited') = (accrued_micro is not null))
);
create index reseller_accrual_walk on reseller_accrual (org_id, month desc, child_org_id);
create index reseller_accrual_due on reseller_accrual (month) where status = 'open' or ledger_seq is null;
select fence_org('reseller_accrual');

revoke delete, truncate on reseller_accrual from svc_runtime;
