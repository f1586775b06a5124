-- compatible_from: 0019
-- Invitations into an organization, and the count of links that did not fit.

create table invitation (
  id text primary key check (id ~ '^ivt_[0-9A-HJKMNP-TV-Z]{26}$'),
  org_id text not null references org,
  email text not null check (char_length(email) between 3 and 254),
  -- The address as compared, as in `person`.
  email_key text not null,
  role text not null check (role in ('owner', 'admin', 'developer', 'billing', 'viewer')),
  -- One that nobody took in time stays pending in its row until it is asked for again: whoever reads compares the time.
  status text not null default 'pending' check (status in ('pending', 'accepted', 'revoked', 'expired')),
  -- SHA-256 of the token in the link that was mailed last; the links of earlier mails lead nowhere.
  hash bytea not null check (octet_length(hash) = 32),
  mails int not null default 1 check (mails >= 1),
  invited_by text not null references person,
  accepted_by text references person,
  expires_at timestamptz not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint invitation_hash_once unique (hash),
  constraint invitation_accepted_by_somebody check ((status = 'accepted') = (accepted_by is not null))
);
-- One that waits per address and organization.
create unique index invitation_pending_once on invitation (org_id, email_key) where status = 'pending';
create index invitation_of_org on invitation (org_id, created_at desc, id desc);

alter table sign_in_throttle drop constraint sign_in_throttle_kind_check;
alter table sign_in_throttle add constraint sign_in_throttle_kind_check
  check (kind in ('account', 'address', 'totp', 'staff', 'link'));
