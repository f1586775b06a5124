-- compatible_from: 0054
-- Storefronts: what customers of a reseller see in place of us, and the addresses at which they see it.

create table storefront (
  -- The reseller.
  org_id text primary key references org,
  display_name text not null check (char_length(display_name) between 1 and 120),
  -- Where the logo was fetched from; the image itself is in storefront_logo.
  logo_url text,
  primary_color text not null check (primary_color ~ '^#[0-9a-f]{6}$'),
  support_email text,
  support_url text,
  terms_url text,
  registration text not null check (registration in ('open', 'invite')),
  display_currency text not null,
  locale text not null,
  updated_at timestamptz not null
);
select fence_org('storefront');

create table storefront_logo (
  org_id text primary key references org,
  -- SHA-256 of the image, which is part of its address: another image has another one.
  sha256 text not null check (sha256 ~ '^[0-9a-f]{64}$'),
  content_type text not null check (content_type in ('image/png', 'image/jpeg', 'image/webp')),
  image bytea not null check (octet_length(image) <= 524288)
);
create index storefront_logo_at on storefront_logo (sha256);
select fence_org('storefront_logo');

-- A domain may be claimed by many resellers and proved by one.
create table storefront_domain (
  org_id text not null references org,
  -- Lower case, in its ASCII form.
  domain text not null check (domain ~ '^[a-z0-9-]+([.][a-z0-9-]+)+$' and char_length(domain) <= 237),
  -- What the TXT record holds. It is public, so it is no secret.
  token text not null check (token ~ '^svc-verify=[0-9A-Za-z]{32}$'),
  created_at timestamptz not null,
  primary key (org_id, domain)
);
select fence_org('storefront_domain');

create table storefront_domain_proof (
  domain text primary key,
  org_id text not null,
  verified_at timestamptz not null,
  -- When the record was last looked for, and how often in a row it was missing then.
  checked_at timestamptz not null,
  misses int not null default 0 check (misses >= 0),
  foreign key (org_id, domain) references storefront_domain on delete cascade
);
create index storefront_domain_proof_of_org on storefront_domain_proof (org_id);
create index storefront_domain_proof_age on storefront_domain_proof (checked_at);
select fence_org('storefront_domain_proof');

-- Domains that were given up or lost. Nobody else can prove one that was proved for thirty days: whoever still follows a link
-- to it would be at somebody else's. The tokens tell a record of then from one of somebody else.
create table storefront_domain_past (
  org_id text not null references org,
  domain text not null,
  token text not null,
  was_proved boolean not null,
  ended_at timestamptz not null,
  primary key (org_id, domain, token)
);
create index storefront_domain_past_of on storefront_domain_past (domain, ended_at) where was_proved;
create index storefront_domain_past_age on storefront_domain_past (ended_at);
select fence_org('storefront_domain_past');

insert into erasable_table (name) values
  ('storefront'), ('storefront_logo'), ('storefront_domain'), ('storefront_domain_proof'), ('storefront_domain_past');
