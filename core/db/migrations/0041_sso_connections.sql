-- compatible_from: 0041
-- The identity providers of organizations, and sign-ins over them. Programs that know nothing of `session.sso_org_id`
-- would let a session of one organization's provider act in the others of its person.

-- The word in the addresses that an identity provider is given. It stays when slug or provider change.
create table sso_alias (
  org_id text primary key references org,
  alias text not null unique check (alias ~ '^[a-z0-9](?:[a-z0-9-]{0,44}[a-z0-9])?$')
);

create table sso_connection (
  org_id text primary key references org,
  kind text not null check (kind in ('oidc', 'saml')),
  display_name text not null check (char_length(display_name) between 1 and 120),
  status text not null check (status in ('draft', 'active', 'disabled')),
  enforce boolean not null,
  default_role text not null check (default_role in ('admin', 'developer', 'billing', 'viewer')),
  -- Group of the provider → role.
  role_map jsonb not null,
  -- Issuer, client, claims, without the secret.
  config jsonb not null,
  -- What the provider says of itself, as of the last PUT.
  metadata jsonb not null,
  client_secret bytea,
  -- The last trial: when, by whom, and what came of it.
  last_test jsonb,
  created_at timestamptz not null,
  updated_at timestamptz not null
);

-- A sign-in that was begun and whose answer has not come: the answer names it, and takes it.
create table sso_flow (
  -- SHA-256 of the state that the provider hands back.
  hash bytea primary key check (octet_length(hash) = 32),
  org_id text not null references org,
  -- SHA-256 of the cookie of the browser that began it.
  browser bytea not null check (octet_length(browser) = 32),
  -- Sealed: PKCE verifier, nonce, and where the browser goes afterwards.
  sealed bytea not null,
  expires_at timestamptz not null
);
create index sso_flow_expiry on sso_flow (expires_at);

-- Set where an organization's identity provider made the session: it acts in that organization alone.
alter table session add column sso_org_id text references org;
alter table session add constraint session_of_provider check ((method = 'password') = (sso_org_id is null)) not valid;
alter table session validate constraint session_of_provider;
create index session_of_sso_org on session (sso_org_id) where sso_org_id is not null;
