-- compatible_from: 0054
-- Certificates of proved domains that we get by ourselves (RFC 8555), and the account at the authority.

create table acme_account (
  directory_url text primary key check (char_length(directory_url) <= 2048),
  -- Null until the authority knows the key.
  account_url text check (char_length(account_url) <= 2048),
  private_key bytea not null,
  -- Until then the authority wants no new orders.
  paused_until timestamptz,
  created_at timestamptz not null
);

-- One for each proved domain: it goes with the proof, and its keys with it.
create table storefront_certificate (
  domain text primary key references storefront_domain_proof on delete cascade,
  org_id text not null,
  -- What is served: leaf first, in PEM, and its key, sealed.
  chain text check (char_length(chain) <= 65536),
  private_key bytea,
  issuer text check (char_length(issuer) <= 300),
  not_before timestamptz,
  not_after timestamptz,
  constraint storefront_certificate_whole_or_absent check (
    num_nulls(chain, private_key, issuer, not_before, not_after) in (0, 5)),
  -- The order under way and the key it is for, sealed: kept before the authority hears of it.
  order_url text check (char_length(order_url) <= 2048),
  order_key bytea,
  constraint storefront_certificate_order_has_key check (order_url is null or order_key is not null),
  -- What the authority asks for over HTTP, and the answer to it; both are public.
  challenge_token text check (challenge_token ~ '^[A-Za-z0-9_-]{1,200}$'),
  challenge_answer text check (char_length(challenge_answer) <= 300),
  constraint storefront_certificate_challenge_answered check (
    (challenge_token is null) = (challenge_answer is null)),
  -- Who works on it, by the clock of the database.
  leased_by text,
  leased_until timestamptz,
  -- When it is looked at next: to issue, to try again, or to renew.
  next_at timestamptz not null,
  -- Attempts that failed since the last that did not, and what was wrong with the last of them.
  failures int not null default 0 check (failures >= 0),
  fault text check (char_length(fault) <= 40),
  fault_detail text check (char_length(fault_detail) <= 500),
  failed_at timestamptz,
  constraint storefront_certificate_fault_dated check ((fault is null) = (failed_at is null)),
  created_at timestamptz not null
);
create index storefront_certificate_due on storefront_certificate (next_at);
create index storefront_certificate_of_org on storefront_certificate (org_id);
select fence_org('storefront_certificate');

insert into erasable_table (name) values ('storefront_certificate');
