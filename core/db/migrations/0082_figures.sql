-- compatible_from: 0054
-- What everybody may see of traffic: days of endpoints and apps, apps with who has them, and the figures made of both. An older
-- program makes and shows none.

-- Attempts of live calls at an endpoint by UTC day of the call. Of all organizations together.
create table endpoint_day (
  day date not null,
  endpoint_id text not null,
  attempts bigint not null,
  ok bigint not null,
  -- Spoilt or left by the caller: no fault of the endpoint.
  excused bigint not null,
  ttft_p50_ms double precision,
  ttft_p95_ms double precision,
  tpot_p50_ms double precision,
  -- Attempts by steps of the logarithm of the time, so that days can be put together.
  ttft_counts jsonb not null,
  tpot_counts jsonb not null,
  primary key (endpoint_id, day),
  constraint endpoint_day_adds_up check (ok >= 0 and excused >= 0 and ok + excused <= attempts)
);

-- Live calls that were answered, by UTC day, organization, app ("" is none) and model.
create table app_day (
  day date not null,
  org_id text not null,
  app_id text not null,
  model text not null,
  requests bigint not null,
  tokens bigint not null,
  first_at timestamptz not null,
  primary key (day, org_id, app_id, model)
);
create index app_day_of_app on app_day (org_id, app_id, day);
create index app_day_of_model on app_day (model, day);
select fence_org('app_day');

-- Models by UTC day. The apps and organizations of a day are those that called the model then and not since, so that the sum over
-- the last days counts each once.
create table model_day (
  day date not null,
  model text not null,
  requests bigint not null,
  tokens bigint not null,
  apps int not null,
  orgs int not null,
  primary key (day, model)
);

-- Which days are summed, and when they last were.
create table summed_day (
  day date primary key,
  summed_at timestamptz not null
);

-- An app belongs to the organization that it was first seen at, for as long as that organization is there.
create table app (
  slug text primary key constraint app_slug_is_one check (slug ~ '^[a-z0-9-]{1,64}$'),
  org_id text not null references org (id),
  name text not null check (char_length(name) between 1 and 120),
  category text check (char_length(category) between 1 and 40),
  url text check (url ~ '^https?://' and char_length(url) <= 2048),
  public boolean not null default false,
  first_seen_at timestamptz not null,
  updated_at timestamptz not null
);
create index app_of_org on app (org_id, slug);
select fence_org('app');

-- The figures as they were last published. One row.
create table figures (
  one boolean primary key default true constraint figures_is_one check (one),
  content jsonb,
  refreshed_at timestamptz,
  constraint figures_are_dated check ((content is null) = (refreshed_at is null))
);
insert into figures default values;

insert into erasable_table (name) values ('app'), ('app_day');
