-- compatible_from: 0054
-- Looks of staff at an organization as its people see it: half an hour, read only. A look ends with the session of staff
-- that began it.
create table staff_look (
  id text primary key check (id ~ '^ses_[0-9A-HJKMNP-TV-Z]{26}$'),
  -- Of the link first, of the session that it was exchanged for afterwards.
  hash bytea not null check (octet_length(hash) = 32),
  opened_at timestamptz,
  staff_id text not null references staff,
  staff_session_id text not null references staff_session on delete cascade,
  org_id text not null references org,
  reason text not null check (char_length(reason) between 1 and 500),
  created_at timestamptz not null,
  expires_at timestamptz not null,
  constraint staff_look_hash_once unique (hash),
  constraint staff_look_is_short check (expires_at <= created_at + interval '30 minutes')
);
create index staff_look_of_session on staff_look (staff_session_id);
