-- compatible_from: 0041
-- What the directories of organizations say of their people, over SCIM.

create table scim_token (
  id text primary key check (id ~ '^scim_[0-9A-HJKMNP-TV-Z]{26}$'),
  org_id text not null references org,
  -- SHA-256 of the token.
  hash bytea not null check (octet_length(hash) = 32),
  hint text not null,
  created_at timestamptz not null,
  -- Written at most once a minute.
  last_used_at timestamptz,
  constraint scim_token_hash_once unique (hash)
);
create index scim_token_of_org on scim_token (org_id, created_at);

-- A member as the directory describes them. A member of whom it has said nothing has no row.
create table scim_user (
  org_id text not null references org,
  user_id text not null references person,
  user_name text not null check (char_length(user_name) between 3 and 254),
  -- The name as addresses are compared; single sign-on finds the person by it too.
  user_name_key text not null,
  external_id text check (char_length(external_id) <= 256),
  -- Name, shown name, addresses and roles, as they were sent.
  attributes jsonb not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (org_id, user_id),
  foreign key (org_id, user_id) references org_member (org_id, user_id) on delete cascade,
  constraint scim_user_name_once unique (org_id, user_name_key)
);
create index scim_user_external on scim_user (org_id, external_id) where external_id is not null;

create table scim_group (
  id text primary key check (id ~ '^grp_[0-9A-HJKMNP-TV-Z]{26}$'),
  org_id text not null references org,
  display_name text not null check (char_length(display_name) between 1 and 256),
  external_id text check (char_length(external_id) <= 256),
  -- Rises with every change; the ETag.
  version int not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unique (org_id, id)
);
-- Names of groups are compared without case.
create unique index scim_group_name_once on scim_group (org_id, lower(display_name));

create table scim_group_member (
  org_id text not null,
  group_id text not null,
  user_id text not null,
  primary key (org_id, group_id, user_id),
  foreign key (org_id, group_id) references scim_group (org_id, id) on delete cascade,
  foreign key (org_id, user_id) references org_member (org_id, user_id) on delete cascade
);
create index scim_group_member_of_user on scim_group_member (org_id, user_id);

-- What directories asked, also what was refused; deleted after 90 days.
create table scim_log (
  id bigint primary key generated always as identity,
  org_id text not null references org,
  token_id text not null,
  at timestamptz not null,
  method text not null,
  -- Without the query, which may hold addresses.
  path text not null,
  resource_type text not null,
  resource_id text not null,
  status int not null,
  -- Why it was refused; empty when it was not.
  reason text not null
);
create index scim_log_of_org on scim_log (org_id, id desc);
create index scim_log_age on scim_log (at);
