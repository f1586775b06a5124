-- compatible_from: 0019
-- Notices that a key will end: each is given once. A key whose end is changed gets those of its new end.
create table key_notice (
  key_id text not null references api_key,
  expires_at timestamptz not null,
  -- How long before it.
  days int not null check (days > 0),
  created_at timestamptz not null,
  constraint key_notice_once primary key (key_id, expires_at, days)
);

create index api_key_ending on api_key (expires_at) where status = 'active';
