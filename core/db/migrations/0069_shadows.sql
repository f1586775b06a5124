-- compatible_from: 0054
-- Shadows of routing policies: copies of calls that go to another endpoint after the answer. An older program makes none.

-- What the platform pays for shadows of an organization in a day; staff give it.
create table policy_shadow_allowance (
  org_id text primary key references org (id),
  daily_micro_usd bigint not null check (daily_micro_usd > 0),
  updated_at timestamptz not null
);

-- What it paid, by day (UTC). What a killed gateway had reserved stays reserved until the day is over.
create table policy_shadow_expense (
  org_id text not null references org (id),
  day date not null,
  reserved_micro_usd bigint not null check (reserved_micro_usd >= 0),
  cost_micro_usd bigint not null check (cost_micro_usd >= 0),
  runs bigint not null check (runs >= 0),
  primary key (org_id, day)
);

-- Copies of a day (UTC), over all gateways: the count that `max_per_day` bounds.
create table policy_shadow_day (
  org_id text not null,
  environment text not null,
  name text not null,
  endpoint_id text not null,
  day date not null,
  runs int not null check (runs >= 0),
  primary key (org_id, environment, name, endpoint_id, day)
);
create index policy_shadow_day_by_age on policy_shadow_day (day);

-- Copies since they were last counted; whoever counts takes them away.
create table shadow_sample (
  org_id text not null,
  environment text not null,
  name text not null,
  version int not null,
  shadow_endpoint text not null,
  primary_endpoint text not null,
  bill text not null check (bill in ('org', 'platform')),
  hour timestamptz not null,
  failed bool not null,
  stop_mismatch bool not null,
  primary_cost_micro bigint not null,
  shadow_cost_micro bigint not null,
  -- Null: no first token was seen.
  primary_ttft_ms double precision,
  shadow_ttft_ms double precision
);

-- What came in each hour; costs and times are of copies that were answered. Kept for 31 days.
create table shadow_hour (
  org_id text not null,
  environment text not null,
  name text not null,
  version int not null,
  shadow_endpoint text not null,
  primary_endpoint text not null,
  bill text not null check (bill in ('org', 'platform')),
  hour timestamptz not null,
  runs bigint not null,
  errors bigint not null,
  stop_mismatch bigint not null,
  primary_cost_micro bigint not null,
  shadow_cost_micro bigint not null,
  -- Copies in which both had a first token, and the sums of their times.
  ttft_runs bigint not null,
  primary_ttft_ms double precision not null,
  shadow_ttft_ms double precision not null,
  primary key (org_id, environment, name, version, shadow_endpoint, primary_endpoint, bill, hour),
  foreign key (org_id, name, version) references policy_version on delete cascade
);
create index shadow_hour_by_age on shadow_hour (hour);

select fence_org(name::regclass) from unnest(array[
  'policy_shadow_allowance', 'policy_shadow_expense', 'policy_shadow_day', 'shadow_sample', 'shadow_hour'
]) as name;
