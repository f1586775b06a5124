-- compatible_from: 0054
-- Credit that resellers give their customers, and take back. The ledgers may be other databases than this one, so that each
-- is written down first, its debit is ordered with it, and what the debit took is credited when the ledger has said it.

create table reseller_allocation (
  id text primary key check (id ~ '^alc_[0-9A-HJKMNP-TV-Z]{26}$'),
  -- The reseller.
  org_id text not null references org,
  child_org_id text not null references org,
  amount_micro_usd bigint not null check (amount_micro_usd > 0),
  reclaimed_micro_usd bigint not null default 0,
  note text not null check (char_length(note) <= 500),
  -- The request under its Idempotency-Key: sent again by whoever lost its answer it goes on with this row.
  once text,
  -- pending: the ledger has not said whether the credit is there; nobody is shown it.
  status text not null default 'pending' check (status in ('pending', 'made')),
  -- Entries that took it from the reseller and brought it to the customer, and the customer's lot.
  ledger_seq bigint,
  child_ledger_seq bigint,
  lot_id text,
  expires_at timestamptz not null,
  created_by text not null,
  created_at timestamptz not null,
  constraint allocation_gives_back_at_most_itself check (reclaimed_micro_usd between 0 and amount_micro_usd),
  constraint allocation_is_booked_iff_made check ((status = 'made') = (ledger_seq is not null)),
  constraint allocation_once unique (org_id, once)
);
create index reseller_allocation_walk on reseller_allocation (child_org_id, created_at desc, id desc);
create index reseller_allocation_due on reseller_allocation (created_at)
  where status = 'pending' or child_ledger_seq is null;
select fence_org('reseller_allocation');

create table reseller_reclaim (
  allocation_id text not null references reseller_allocation,
  reclaim_no int not null check (reclaim_no > 0),
  -- The reseller.
  org_id text not null references org,
  -- What was taken from the customer; null while the ledger has not said.
  amount_micro_usd bigint check (amount_micro_usd >= 0),
  created_by text not null,
  created_at timestamptz not null,
  primary key (allocation_id, reclaim_no)
);
create index reseller_reclaim_due on reseller_reclaim (created_at) where amount_micro_usd is null;
select fence_org('reseller_reclaim');

revoke delete, truncate on reseller_reclaim from svc_runtime;
