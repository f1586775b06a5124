-- compatible_from: 0014
-- Webhooks of organisations: endpoints, events as they were sent, and what became of each delivery.

create table webhook (
  id text primary key check (id ~ '^wh_[0-9A-HJKMNP-TV-Z]{26}$'),
  org_id text not null references org,
  url text not null check (char_length(url) between 1 and 2048),
  description text not null default '' check (char_length(description) <= 500),
  -- Event types, or `*` for all.
  events text[] not null check (cardinality(events) between 1 and 100),
  status text not null default 'active' check (status in ('active', 'disabled')),
  disabled_reason text check (disabled_reason in ('manual', 'gone', 'failing')),
  -- First failure since the last success, and the failed attempts from it on.
  failing_since timestamptz,
  failed_attempts int not null default 0 check (failed_attempts >= 0),
  secret_sealed bytea not null,
  secret_hint text not null,
  -- Signs beside the new one until it ends.
  previous_secret_sealed bytea,
  previous_secret_expires_at timestamptz,
  created_by text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  last_delivery_at timestamptz,
  constraint webhook_disabled_has_a_reason check ((status = 'disabled') = (disabled_reason is not null)),
  constraint webhook_failing_counts check ((failing_since is null) = (failed_attempts = 0)),
  constraint webhook_previous_secret_ends
    check ((previous_secret_sealed is null) = (previous_secret_expires_at is null))
);
create index webhook_of_org on webhook (org_id, created_at, id);

-- An event that at least one endpoint wanted: the bytes that every attempt and redelivery sends.
create table webhook_event (
  id text primary key check (id ~ '^evt_[0-9A-HJKMNP-TV-Z]{26}$'),
  org_id text not null,
  type text not null,
  body text not null,
  created_at timestamptz not null
);
create index webhook_event_age on webhook_event (created_at);

create table webhook_delivery (
  id bigint generated always as identity primary key,
  webhook_id text not null references webhook on delete cascade,
  org_id text not null,
  event_id text not null references webhook_event,
  -- 0 is what the fan-out made; people ask for 1, 2, ...
  redelivery int not null default 0 check (redelivery >= 0),
  status text not null check (status in ('queued', 'delivering', 'delivered', 'failed', 'dropped')),
  attempts int not null default 0,
  attempts_max int not null check (attempts_max >= 1),
  next_at timestamptz not null,
  -- Who tries now, until when by the database's clock; a lease that lapsed may be taken by another.
  lease text,
  lease_until timestamptz,
  -- Of the last attempt; 0 when there was no HTTP answer.
  response_code int,
  latency_ms int,
  attempt_log jsonb not null default '[]',
  created_at timestamptz not null,
  delivered_at timestamptz,
  constraint webhook_delivery_once unique (webhook_id, event_id, redelivery),
  constraint webhook_delivery_leased check ((status = 'delivering') = (lease is not null and lease_until is not null)),
  constraint webhook_delivery_delivered check ((status = 'delivered') = (delivered_at is not null)),
  constraint webhook_delivery_attempts check (attempts between 0 and attempts_max)
);
create index webhook_delivery_walk on webhook_delivery (webhook_id, id desc);
create index webhook_delivery_event on webhook_delivery (event_id);
create index webhook_delivery_age on webhook_delivery (created_at);
-- The queue: one stretch per endpoint, so that a long one costs the others nothing.
create index webhook_delivery_queue on webhook_delivery (webhook_id, next_at, id)
  where status in ('queued', 'delivering');
