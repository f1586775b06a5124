-- compatible_from: 0018
-- Keys that organisations bring for providers: sealed, and never read back.

create table byok_key (
  id text primary key check (id ~ '^byok_[0-9A-HJKMNP-TV-Z]{26}$'),
  org_id text not null references org,
  provider_id text not null,
  label text not null check (char_length(label) <= 64),
  -- AES-256-GCM under the key ring, bound to this row.
  secret_sealed bytea not null,
  hint text not null,
  -- What the provider said when it was last asked (validate); calls try a key in either state.
  status text not null default 'active' check (status in ('active', 'rejected')),
  fallback_to_pool boolean not null,
  created_by text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  last_used_at timestamptz,
  validated_at timestamptz,
  constraint byok_label_is_unique unique (org_id, provider_id, label)
);

-- Each change that calls must hear of, with its transaction, so that a late commit is not missed.
create table byok_change (
  xid xid8 not null default pg_current_xact_id(),
  org_id text not null,
  at timestamptz not null default clock_timestamp()
);
create index byok_change_xid on byok_change (xid);

create function announce_byok_change() returns trigger language plpgsql as $$
declare
  changed text := case when tg_op = 'DELETE' then old.org_id else new.org_id end;
begin
  insert into byok_change (org_id) values (changed);
  perform pg_notify('svc_byok', changed);
  return null;
end $$;
create trigger byok_key_announces after insert or delete or update of secret_sealed, hint, fallback_to_pool on byok_key
  for each row execute function announce_byok_change();
