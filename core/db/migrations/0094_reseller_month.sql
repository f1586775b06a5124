-- compatible_from: 0054
-- What moved in the books of resellers' customers, by month: counted entry by entry together with what resellers earn.

create table reseller_month (
  child_org_id text not null references org,
  -- First day, UTC.
  month date not null check (extract(day from month) = 1),
  -- The reseller.
  org_id text not null references org,
  -- Calls.
  charged_micro bigint not null default 0,
  -- Credit that the customer paid for, and that went back to it.
  sold_micro bigint not null default 0,
  refunded_micro bigint not null default 0,
  -- Credit that the reseller gave, and took back.
  given_micro bigint not null default 0,
  reclaimed_micro bigint not null default 0,
  -- Everything else, signed as it moved the balance: grants, gifts, plans, disputes, expiry.
  other_micro bigint not null default 0,
  primary key (child_org_id, month)
);
create index reseller_month_walk on reseller_month (org_id, month, child_org_id);
select fence_org('reseller_month');

revoke delete, truncate on reseller_month from svc_runtime;
