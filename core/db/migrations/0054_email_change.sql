-- compatible_from: 0053
-- What a person says of themselves: the language that they read, and an address that is to take the place of theirs once it is
-- proved.
alter table person add column locale text not null default 'en';
create table email_change (
  user_id text primary key references person (id) on delete cascade,
  email text not null check (char_length(email) between 3 and 254),
  email_key text not null,
  -- SHA-256 of the token in the mail to the new address.
  hash bytea not null unique,
  expires_at timestamptz not null,
  created_at timestamptz not null
);
