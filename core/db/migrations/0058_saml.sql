-- compatible_from: 0054
-- Identity providers that speak SAML. Connections of kind `saml` were allowed from the start; programs of before refuse to
-- begin a sign-in over one.

-- The description of a SAML provider is fetched anew every day where it has an address.
alter table sso_connection add column metadata_at timestamptz;
-- Why the last fetch was of no use; null when it was.
alter table sso_connection add column metadata_fault text;
create index sso_connection_of_metadata_url on sso_connection (metadata_at) where config ->> 'metadata_url' is not null;

-- Assertions that were used, until they are of no use to anybody: none signs in twice.
create table sso_assertion (
  org_id text not null references org,
  -- SHA-256 of the assertion's id.
  hash bytea not null check (octet_length(hash) = 32),
  expires_at timestamptz not null,
  primary key (org_id, hash)
);
create index sso_assertion_expiry on sso_assertion (expires_at);

-- The key with which requests to an organization's provider are signed. It stays when the connection changes, since the
-- provider has its certificate.
create table sso_signing_key (
  org_id text primary key references org,
  -- Sealed: PKCS #8 in PEM.
  private_key bytea not null,
  certificate text not null,
  created_at timestamptz not null
);
