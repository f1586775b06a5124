-- compatible_from: 0054
-- Prices that staff set for an endpoint from a day on, and exchange rates of a day, each confirmed by a second person. An older program
-- charges what the files say, and sells by the newest day of its source.
create table catalog.set_price (
  set_no int generated always as identity primary key,
  endpoint_no int not null references catalog.endpoint,
  -- The UTC day from whose beginning on it is charged.
  from_day date not null,
  -- All prices of the endpoint as a file would write them: price, bands and tiers.
  prices jsonb not null,
  -- SHA-256 of the prices in whose place it stands, in hexadecimal: it holds while the files give these.
  replaces text not null check (replaces ~ '^[0-9a-f]{64}$'),
  approval_id text not null references approval (id),
  set_at timestamptz not null,
  constraint set_price_once_per_approval unique (approval_id)
);
create index set_price_of_endpoint on catalog.set_price (endpoint_no, from_day, set_no);
create trigger set_price_is_never_changed before update or delete or truncate on catalog.set_price
  for each statement execute function catalog.refuse_change();
grant select, insert on catalog.set_price to svc_runtime;

-- A price is an act without an amount: it needs a second person whatever it comes to.
alter table approval alter amount_micro_usd drop not null;

-- Rates of a day that staff set, by two people; also beside the table of the release. Null: the source gave them.
alter table fx_day add approval_id text unique references approval (id);
alter table fx_day drop constraint fx_day_source_check;
alter table fx_day add constraint fx_day_source_check check (source in ('static', 'ecb', 'json'));
