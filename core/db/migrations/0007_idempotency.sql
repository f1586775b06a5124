-- compatible_from: 0007
-- Answers to management POSTs that carried an Idempotency-Key; the body is sealed, kept 24 hours.
create table idempotency (
  org_id text not null,
  environment text not null,
  path text not null,
  key_hash bytea not null,
  fingerprint bytea not null,
  started_at timestamptz not null,
  status int,
  body bytea,
  expires_at timestamptz not null,
  primary key (org_id, environment, path, key_hash),
  constraint idempotency_body_with_status check ((status is null) = (body is null))
);
create index idempotency_expiry on idempotency (expires_at);
