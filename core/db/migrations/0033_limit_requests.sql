-- compatible_from: 0028
-- Requests of customers that staff decide, and what an organization was granted beyond its plan.

-- Members rpm, tpm, concurrency; one that is absent is the plan's.
alter table org add column limit_overrides jsonb not null default '{}'
  constraint limit_overrides_are_members check (jsonb_typeof(limit_overrides) = 'object');
drop trigger org_announces on org;
create trigger org_announces after update of status, plan_id, limit_overrides, data_policy, pepper on org
  for each row execute function announce_grant_change();

create table ticket (
  id text primary key check (id ~ '^tkt_[0-9A-HJKMNP-TV-Z]{26}$'),
  org_id text not null references org,
  kind text not null check (kind in ('limit_increase', 'invoice_correction', 'refund', 'close_org', 'other')),
  status text not null check (status in ('open', 'approved', 'rejected', 'resolved', 'closed')),
  subject text not null,
  body jsonb not null,
  -- The person; null for a key that is bound to nobody.
  created_by text,
  -- What staff answered.
  resolution text not null default '',
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index ticket_walk on ticket (org_id, created_at desc, id desc);
create index ticket_open on ticket (kind, created_at, id) where status = 'open';

-- What a ticket of the kind limit_increase asks for.
create table limit_request (
  ticket_id text primary key references ticket,
  org_id text not null references org,
  environment text not null check (environment in ('live', 'test')),
  key_id text not null references api_key,
  -- A rotation is no way to more raises: they are counted by chain.
  chain_no int not null,
  rpm int constraint limit_request_rpm_positive check (rpm > 0),
  tpm int constraint limit_request_tpm_positive check (tpm > 0),
  concurrency int constraint limit_request_concurrency_positive check (concurrency > 0),
  -- Applied without a person.
  automatic boolean not null,
  created_at timestamptz not null,
  constraint limit_request_asks_for_something check (num_nonnulls(rpm, tpm, concurrency) > 0)
);
create index limit_request_raises on limit_request (chain_no, created_at) where automatic;

revoke delete, truncate on ticket, limit_request from svc_runtime;
