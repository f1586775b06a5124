-- compatible_from: 0009
-- Audit log: append only, hash chained per organisation and UTC day. `org_id` is '' for what concerns no
-- organisation (a failed sign-in).
create table audit_entry (
  id bigint generated always as identity primary key,
  org_id text not null,
  day date not null,
  -- Place in the chain of the day, from 1 without a gap.
  chain_seq int not null,
  at timestamptz not null,
  actor_type text not null check (actor_type in ('user', 'key', 'staff', 'scim', 'system', 'operator')),
  actor_id text,
  actor_display text not null,
  action text not null,
  target_type text,
  target_id text,
  target_display text,
  before jsonb,
  after jsonb,
  reason text,
  ip_prefix text,
  user_agent text,
  request_id text,
  outcome text not null check (outcome in ('ok', 'denied')),
  prev_hash bytea not null check (octet_length(prev_hash) = 32),
  hash bytea not null check (octet_length(hash) = 32),
  constraint audit_entry_place_once unique (org_id, day, chain_seq)
);
create index audit_entry_walk on audit_entry (org_id, id desc);

-- The end of each chain; its row is the lock under which the next entry is written.
create table audit_chain (
  org_id text not null,
  day date not null,
  chain_seq int not null,
  hash bytea not null,
  primary key (org_id, day)
);

create function refuse_audit_change() returns trigger language plpgsql as $$
begin
  raise exception 'the audit log is append only';
end $$;
create trigger audit_entry_is_append_only before update or delete or truncate on audit_entry
  for each statement execute function refuse_audit_change();

revoke update, delete, truncate on audit_entry from svc_runtime;
revoke delete on audit_chain from svc_runtime;
