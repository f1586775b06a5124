-- compatible_from: 0019
-- Requests for access by people whom nobody invited; staff decide them.
create table access_request (
  id text primary key check (id ~ '^acr_[0-9A-HJKMNP-TV-Z]{26}$'),
  email text not null check (char_length(email) between 3 and 254),
  -- The address as compared, as in `person`. An address has one request.
  email_key text not null,
  name text not null check (char_length(name) between 1 and 120),
  company text not null,
  job_title text not null,
  country text not null,
  website text not null,
  use_case text not null,
  monthly_spend text not null,
  -- One that is approved and whose link was not used in time stays approved: whoever reads compares the time.
  status text not null default 'received' check (status in ('received', 'approved', 'declined', 'activated')),
  -- Who of staff decided.
  reviewed_by text,
  -- SHA-256 of the token in the link that was mailed last.
  hash bytea check (octet_length(hash) = 32),
  mails int not null default 0 check (mails >= 0),
  expires_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint access_request_once_per_address unique (email_key),
  constraint access_request_hash_once unique (hash),
  constraint access_request_approved_has_link
    check ((status = 'approved') = (hash is not null) and (status = 'approved') = (expires_at is not null)),
  constraint access_request_decided_by_somebody check (status = 'received' or reviewed_by is not null)
);
create index access_request_waiting on access_request (created_at, id) where status = 'received';

alter table sign_in_throttle drop constraint sign_in_throttle_kind_check;
alter table sign_in_throttle add constraint sign_in_throttle_kind_check
  check (kind in ('account', 'address', 'totp', 'staff', 'link', 'asking', 'mailing', 'access'));
