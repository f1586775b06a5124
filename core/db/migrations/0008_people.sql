-- compatible_from: 0008
-- People, their membership in organisations, sessions, second factors, and staff. Secrets stand here as hashes (tokens,
-- recovery codes, passwords) or sealed (TOTP).

-- A user of the console; `user` is a reserved word. One person per address over all organisations.
create table person (
  id text primary key check (id ~ '^usr_[0-9A-HJKMNP-TV-Z]{26}$'),
  email text not null check (char_length(email) between 3 and 254),
  -- The address as compared: lower case, domain in its ASCII form.
  email_key text not null,
  name text not null default '' check (char_length(name) <= 120),
  -- argon2id as PHC string.
  password_hash text not null,
  password_changed_at timestamptz not null,
  -- Sealed secret of an enrolment that waits for its first code.
  totp_pending bytea,
  -- Sealed secret of the second factor in force.
  totp_secret bytea,
  totp_confirmed_at timestamptz,
  -- Step of the last code taken, so that a code works once.
  totp_last_step bigint not null default -1,
  last_seen_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint person_email_once unique (email_key),
  constraint person_totp_confirmed check ((totp_secret is null) = (totp_confirmed_at is null))
);

create table org_member (
  org_id text not null references org,
  user_id text not null references person,
  role text not null check (role in ('owner', 'admin', 'developer', 'billing', 'viewer')),
  status text not null default 'active' check (status in ('active', 'suspended')),
  source text not null check (source in ('invite', 'sso', 'scim', 'owner')),
  joined_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (org_id, user_id)
);
create index org_member_of_person on org_member (user_id);

-- A row is a living session; ending one deletes it, which every process sees at its next request.
create table session (
  id text primary key check (id ~ '^ses_[0-9A-HJKMNP-TV-Z]{26}$'),
  -- SHA-256 of the token in force; rotation replaces it.
  hash bytea not null check (octet_length(hash) = 32),
  user_id text not null references person,
  -- The organisation entered; the membership is looked up at each request.
  org_id text references org,
  method text not null check (method in ('password', 'saml', 'oidc')),
  transport text not null check (transport in ('cookie', 'bearer')),
  two_factor boolean not null,
  ip_prefix text,
  user_agent text check (char_length(user_agent) <= 256),
  proved_at timestamptz not null,
  created_at timestamptz not null,
  last_seen_at timestamptz not null,
  idle_seconds int not null check (idle_seconds > 0),
  expires_at timestamptz not null,
  constraint session_hash_once unique (hash)
);
create index session_of_person on session (user_id, created_at);
create index session_of_org on session (org_id, created_at desc) where org_id is not null;
create index session_expiry on session (expires_at);

-- HMAC-SHA256 with a key of the key ring; a new set replaces all, a used one is gone.
create table recovery_code (
  user_id text not null references person,
  hash bytea not null check (octet_length(hash) = 32),
  created_at timestamptz not null,
  primary key (user_id, hash)
);

-- A sign-in whose password was right and whose second factor is still missing.
create table sign_in_challenge (
  hash bytea primary key check (octet_length(hash) = 32),
  -- usr_… or stf_….
  subject text not null,
  misses int not null default 0 check (misses between 0 and 5),
  expires_at timestamptz not null
);
create index sign_in_challenge_expiry on sign_in_challenge (expires_at);

-- Failures per account and per address.
create table sign_in_throttle (
  kind text not null check (kind in ('account', 'address', 'totp', 'staff')),
  subject bytea not null check (octet_length(subject) = 32),
  window_start timestamptz not null,
  failures int not null check (failures >= 0),
  -- How often in a row it was locked; each lock is twice as long as the one before.
  locks int not null default 0,
  locked_until timestamptz,
  primary key (kind, subject)
);
create index sign_in_throttle_age on sign_in_throttle (window_start);

create table staff (
  id text primary key check (id ~ '^stf_[0-9A-HJKMNP-TV-Z]{26}$'),
  email text not null check (char_length(email) between 3 and 254),
  email_key text not null,
  password_hash text not null,
  totp_secret bytea not null,
  totp_last_step bigint not null default -1,
  roles text[] not null
    check (cardinality(roles) > 0 and roles <@ array['super', 'finance', 'support', 'catalog', 'compliance']),
  status text not null default 'active' check (status in ('active', 'disabled')),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint staff_email_once unique (email_key)
);

create table staff_session (
  id text primary key check (id ~ '^ses_[0-9A-HJKMNP-TV-Z]{26}$'),
  hash bytea not null check (octet_length(hash) = 32),
  staff_id text not null references staff,
  transport text not null check (transport in ('cookie', 'bearer')),
  ip_prefix text,
  user_agent text check (char_length(user_agent) <= 256),
  created_at timestamptz not null,
  last_seen_at timestamptz not null,
  idle_seconds int not null check (idle_seconds > 0),
  expires_at timestamptz not null,
  constraint staff_session_hash_once unique (hash)
);
create index staff_session_of_staff on staff_session (staff_id);
create index staff_session_expiry on staff_session (expires_at);
