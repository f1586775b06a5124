-- compatible_from: 0006
-- API keys, and what tells processes that a key in their memory changed.

create sequence api_key_no as int;
create table api_key (
  id text primary key check (id ~ '^key_[0-9A-HJKMNP-TV-Z]{26}$'),
  key_no int not null unique,
  -- key_no of the first key of the rotation chain: budget windows and rates go on under it.
  chain_no int not null,
  org_id text not null references org,
  project_id text not null references project,
  environment text not null check (environment in ('live', 'test')),
  name text not null check (char_length(name) between 1 and 120),
  -- SHA-256 of the whole secret; no pepper, because its entropy needs none.
  hash bytea not null check (octet_length(hash) = 32),
  hint text not null,
  scopes text[] not null check (cardinality(scopes) > 0),
  status text not null default 'active' check (status in ('active', 'rotating', 'revoked')),
  rpm int check (rpm > 0),
  tpm int check (tpm > 0),
  concurrency int check (concurrency > 0),
  budget_daily_micro bigint check (budget_daily_micro >= 0),
  budget_hard boolean not null default true,
  alerts int[] not null default '{50,80,100}',
  svc_version text not null,
  data_policy jsonb,
  created_by text,
  managed_by text,
  rotated_from text references api_key,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  last_used_at timestamptz,
  expires_at timestamptz,
  revoked_at timestamptz,
  constraint api_key_hash_once unique (hash),
  constraint api_key_revoked_at_iff_revoked check ((status = 'revoked') = (revoked_at is not null)),
  constraint api_key_rotating_ends check (status <> 'rotating' or expires_at is not null),
  constraint api_key_rotated_once unique (rotated_from)
);
create index api_key_walk on api_key (org_id, created_at desc, id desc);
create index api_key_chain on api_key (chain_no);
create index api_key_project on api_key (project_id);

-- What verified keys in memory depend on changed. Rings hear of it by NOTIFY and, should that be lost, by
-- reading rows whose transaction was not yet visible at their last look (xid against snapshot: exact, where
-- a sequence or a clock would skip a late commit). Rows live for an hour.
create table grant_change (
  xid xid8 not null default pg_current_xact_id(),
  org_id text not null,
  key_id text,
  at timestamptz not null default clock_timestamp()
);
create index grant_change_xid on grant_change (xid);

create function announce_grant_change() returns trigger language plpgsql as $$
declare
  changed_org text := case when tg_table_name = 'org' then to_jsonb(new) ->> 'id' else to_jsonb(new) ->> 'org_id' end;
  changed_key text := case when tg_table_name = 'api_key' then to_jsonb(new) ->> 'id' end;
begin
  insert into grant_change (org_id, key_id) values (changed_org, changed_key);
  perform pg_notify('svc_grant', changed_org || ' ' || coalesce(changed_key, ''));
  return null;
end $$;

create trigger api_key_announces after insert or update of
  status, scopes, rpm, tpm, concurrency, expires_at, svc_version, data_policy, hash on api_key
  for each row execute function announce_grant_change();
create trigger org_announces after update of status, plan_id, data_policy, pepper on org
  for each row execute function announce_grant_change();
create trigger project_announces after update of status on project
  for each row execute function announce_grant_change();
