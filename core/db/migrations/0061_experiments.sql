-- compatible_from: 0054
-- Experiments of routing policies: what the calls of either arm showed. An older program routes as if there were none, and
-- its calls count in neither arm.

-- Calls since they were last counted; whoever counts takes them away.
create table experiment_sample (
  org_id text not null,
  environment text not null,
  name text not null,
  version int not null,
  experiment text not null,
  arm text not null check (arm in ('control', 'candidate')),
  bucket int not null check (bucket between 0 and 9999),
  hour timestamptz not null,
  -- Null: no first token was seen.
  ttft_ms double precision,
  failed bool not null,
  cost_micro bigint not null,
  output_tokens bigint not null
);

-- What came in each bucket since the version began. Who stays in one arm is in one bucket, so that buckets are
-- independent of each other where calls are not.
create table experiment_bucket (
  org_id text not null,
  environment text not null,
  name text not null,
  version int not null,
  experiment text not null,
  arm text not null check (arm in ('control', 'candidate')),
  bucket int not null check (bucket between 0 and 9999),
  calls bigint not null,
  errors bigint not null,
  cost_micro bigint not null,
  ttft_calls bigint not null,
  ttft_ms double precision not null,
  primary key (org_id, environment, name, version, experiment, arm, bucket),
  foreign key (org_id, name, version) references policy_version on delete cascade
);

-- What came in each hour, by the first-token time on a logarithmic scale (-1: none was seen); kept for 31 days.
create table experiment_hour (
  org_id text not null,
  environment text not null,
  name text not null,
  version int not null,
  experiment text not null,
  arm text not null check (arm in ('control', 'candidate')),
  hour timestamptz not null,
  ttft_bin int not null,
  requests bigint not null,
  errors bigint not null,
  cost_micro bigint not null,
  output_tokens bigint not null,
  primary key (org_id, environment, name, version, experiment, arm, hour, ttft_bin),
  foreign key (org_id, name, version) references policy_version on delete cascade
);
create index experiment_hour_by_age on experiment_hour (hour);
