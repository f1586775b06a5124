-- compatible_from: 0052
-- Who may make an organization while sign-up is not open: people whom staff or an organization let in, and who have an invite
-- code. Programs of before let in whomever they make, hence the default.
alter table person
  add column admitted_at timestamptz default now(),
  -- The code an account was made with; its use is counted when the first organization is made.
  add column invite_code_id text;
update person set admitted_at = created_at;
alter table registration add column invite_code_id text;

create table waitlist_entry (
  id text primary key check (id ~ '^wle_[0-9A-HJKMNP-TV-Z]{26}$'),
  user_id text not null unique references person (id) on delete cascade,
  company text not null check (char_length(company) between 1 and 120),
  use_case text not null check (char_length(use_case) between 1 and 500),
  status text not null default 'waiting' check (status in ('waiting', 'invited')),
  reviewed_by text,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index waitlist_waiting on waitlist_entry (created_at, id) where status = 'waiting';

create table invite_code (
  id text primary key check (id ~ '^ivc_[0-9A-HJKMNP-TV-Z]{26}$'),
  -- Keyed hash of the code, which is shown once.
  hash bytea not null unique,
  hint text not null,
  note text not null,
  max_uses integer not null check (max_uses between 1 and 10000),
  uses integer not null default 0 check (uses between 0 and max_uses),
  expires_at timestamptz not null,
  revoked_at timestamptz,
  created_by text not null,
  created_at timestamptz not null
);
create index invite_code_newest on invite_code (created_at desc, id desc);

create table invite_code_use (
  org_id text primary key references org (id),
  invite_code_id text not null references invite_code (id),
  user_id text not null,
  used_at timestamptz not null
);
