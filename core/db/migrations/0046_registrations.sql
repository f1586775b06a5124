-- compatible_from: 0019
-- Accounts that people make for themselves, and links that set a new password.

-- An account that was asked for and whose address is not proved yet. The person's row is made by the link in the mail, so
-- that every row of `person` has a proved address, and an address can be asked for by several: the first link wins.
create table registration (
  -- The id that the person will have.
  id text primary key check (id ~ '^usr_[0-9A-HJKMNP-TV-Z]{26}$'),
  email text not null check (char_length(email) between 3 and 254),
  -- The address as compared, as in `person`.
  email_key text not null,
  name text not null,
  password_hash text not null,
  -- SHA-256 of the token in the link that was mailed last; the links of earlier mails lead nowhere.
  hash bytea not null check (octet_length(hash) = 32),
  mails int not null default 1 check (mails >= 1),
  expires_at timestamptz not null,
  created_at timestamptz not null,
  constraint registration_hash_once unique (hash)
);
create index registration_of_address on registration (email_key, created_at desc);
create index registration_age on registration (expires_at);

create table password_reset (
  -- SHA-256 of the token in the link.
  hash bytea primary key check (octet_length(hash) = 32),
  user_id text not null references person on delete cascade,
  expires_at timestamptz not null,
  created_at timestamptz not null
);
create index password_reset_of_person on password_reset (user_id);
create index password_reset_age on password_reset (expires_at);

alter table sign_in_throttle drop constraint sign_in_throttle_kind_check;
alter table sign_in_throttle add constraint sign_in_throttle_kind_check
  check (kind in ('account', 'address', 'totp', 'staff', 'link', 'asking', 'mailing'));
