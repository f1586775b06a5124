-- compatible_from: 0019
-- Mail domains of organizations, for single sign-on. A domain may be claimed by many and proved by one.

create table sso_domain (
  org_id text not null references org,
  -- Lower case, in its ASCII form.
  domain text not null check (domain ~ '^[a-z0-9-]+([.][a-z0-9-]+)+$' and char_length(domain) <= 238),
  -- What the TXT record holds. It is public, so it is no secret.
  token text not null check (token ~ '^svc-verify=[0-9A-Za-z]{32}$'),
  created_at timestamptz not null,
  primary key (org_id, domain)
);

create table sso_domain_proof (
  domain text primary key,
  org_id text not null,
  verified_at timestamptz not null,
  -- When the record was last looked for, and how often in a row it was missing then.
  checked_at timestamptz not null,
  misses int not null default 0 check (misses >= 0),
  foreign key (org_id, domain) references sso_domain on delete cascade
);
create index sso_domain_proof_of_org on sso_domain_proof (org_id);
create index sso_domain_proof_age on sso_domain_proof (checked_at);
