-- compatible_from: 0054
-- Whom mails to people of a reseller's customers come from, with the key that signs them.

create table mail_sender (
  -- The reseller.
  org_id text primary key references org,
  domain text not null check (char_length(domain) <= 238),
  from_local text not null check (char_length(from_local) <= 64),
  -- Public half, base64 of its DER: what the reseller publishes. The private half is sealed.
  public_key text not null,
  private_key bytea not null,
  -- Host at which we take mails that could not be delivered.
  return_host text not null,
  status text not null default 'pending' check (status in ('pending', 'verified', 'failed')),
  -- Whether each record was there at the last look.
  dkim_found boolean not null default false,
  return_found boolean not null default false,
  -- Daily looks in a row at which one was missing, while verified.
  misses int not null default 0 check (misses >= 0),
  checked_at timestamptz,
  created_at timestamptz not null,
  constraint mail_sender_is_pending_until_seen check (status = 'pending' or checked_at is not null)
);
select fence_org('mail_sender');
create index mail_sender_due on mail_sender (coalesce(checked_at, created_at));
insert into erasable_table (name) values ('mail_sender');
