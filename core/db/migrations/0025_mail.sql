-- compatible_from: 0019
-- Mails: asked for in the transaction of their cause, sent after it, and the addresses that mail does not reach.

create table mail (
  id text primary key check (id ~ '^mail_[0-9A-HJKMNP-TV-Z]{26}$'),
  -- Whom it is about; null: a person alone.
  org_id text references org,
  template text not null check (char_length(template) between 1 and 60),
  -- What it is about.
  reference text not null check (reference ~ '^[A-Za-z0-9_-]{1,200}$'),
  recipient text not null check (char_length(recipient) between 3 and 254),
  -- The address in the form in which it is compared.
  recipient_key text not null check (char_length(recipient_key) between 3 and 254),
  data jsonb not null,
  -- The link with a token, encrypted; gone when the mail has ended.
  sealed bytea,
  -- Files by reference: kind and id.
  attachments jsonb not null default '[]',
  status text not null default 'queued'
    check (status in ('queued', 'sending', 'sent', 'bounced', 'failed', 'dropped')),
  attempts int not null default 0 check (attempts >= 0),
  next_at timestamptz not null,
  -- It waits because its address had enough for a day.
  limited boolean not null default false,
  -- Who sends it now, until when by the database's clock; a lease that lapsed may be taken by another.
  lease text,
  lease_until timestamptz,
  -- What the server said last, or why the mail was dropped.
  answer text not null default '' check (char_length(answer) <= 500),
  created_at timestamptz not null,
  -- From then on it is of no use.
  expires_at timestamptz not null,
  sent_at timestamptz,
  constraint mail_once unique (template, reference, recipient_key),
  constraint mail_leased check ((status = 'sending') = (lease is not null and lease_until is not null)),
  constraint mail_sent_has_a_time check ((status in ('sent', 'bounced')) = (sent_at is not null)),
  constraint mail_secret_goes_with_its_end check (sealed is null or status in ('queued', 'sending'))
);
create index mail_queue on mail (next_at, id) where status in ('queued', 'sending');
create index mail_to_address on mail (recipient_key, sent_at);
create index mail_age on mail (created_at);

-- Addresses that a server refused or that mails bounced from; nothing is sent to them until staff take them out.
create table mail_address (
  recipient_key text primary key,
  cause text not null check (cause in ('refused', 'bounced')),
  answer text not null,
  mail_id text not null,
  refused_at timestamptz not null
);
