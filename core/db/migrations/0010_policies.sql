-- compatible_from: 0010
-- Routing policies: immutable versions by name, and which of them rules a scope.

create table policy (
  org_id text not null references org,
  name text not null check (name ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
  -- Number of the newest version ever made; it goes on where a deleted name is made again, so that `agents/7` in a
  -- trace names one text for ever.
  newest int not null check (newest > 0),
  -- `k8s/<cluster>/<namespace>/<name>` of the manifest that rules it, or null.
  managed_by text check (char_length(managed_by) between 1 and 512),
  created_at timestamptz not null,
  deleted_at timestamptz,
  primary key (org_id, name),
  constraint policy_deleted_is_unmanaged check (deleted_at is null or managed_by is null)
);

create table policy_version (
  org_id text not null,
  name text not null,
  version int not null check (version > 0),
  yaml text not null check (octet_length(yaml) between 1 and 65536),
  -- SHA-256 of the text, lower-case hex.
  content_hash text not null check (content_hash ~ '^[0-9a-f]{64}$'),
  notices jsonb not null,
  managed_by text,
  created_by text not null,
  created_at timestamptz not null,
  primary key (org_id, name, version),
  foreign key (org_id, name) references policy
);

create function refuse_policy_version_change() returns trigger language plpgsql as $$
begin
  raise exception 'a policy version never changes';
end $$;
create trigger policy_version_is_immutable before update on policy_version
  for each row execute function refuse_policy_version_change();

-- Which version rules a scope: an organisation (project_id null) or one of its projects. Ended rows are the history
-- that a rollback walks.
create sequence policy_activation_no;
create table policy_activation (
  activation_no bigint primary key default nextval('policy_activation_no'),
  org_id text not null references org,
  project_id text references project,
  name text not null,
  version int not null,
  activated_at timestamptz not null,
  activated_by text not null,
  ended_at timestamptz,
  -- What a rollback of this activation activates again.
  previous_no bigint references policy_activation on delete set null,
  -- The transaction that made it: a gateway whose last look saw it holds it (policy_gateway.seen).
  xid xid8 not null default pg_current_xact_id(),
  foreign key (org_id, name, version) references policy_version on delete cascade
);
create unique index policy_active_once on policy_activation (org_id, coalesce(project_id, '')) where ended_at is null;
create index policy_activation_walk on policy_activation (org_id, name, version);
create index policy_activation_previous on policy_activation (previous_no) where previous_no is not null;

-- What snapshots in memory depend on changed. Processes hear of it by NOTIFY and, should that be lost, by reading the
-- rows whose transaction was not yet visible at their last look. Rows live for an hour.
create table policy_change (
  xid xid8 not null default pg_current_xact_id(),
  org_id text not null,
  at timestamptz not null default clock_timestamp()
);
create index policy_change_xid on policy_change (xid);

create function announce_policy_change() returns trigger language plpgsql as $$
declare
  changed text := case when tg_op = 'DELETE' then old.org_id else new.org_id end;
begin
  insert into policy_change (org_id) values (changed);
  perform pg_notify('svc_policy', changed);
  return null;
end $$;
create trigger policy_activation_announces after insert or delete or update of ended_at on policy_activation
  for each row execute function announce_policy_change();

-- Processes that route calls, and what they have seen. Times are the database's: this is a lease.
create table policy_gateway (
  gateway_id text primary key,
  process_name text not null,
  seen pg_snapshot not null,
  seen_at timestamptz not null
);
