-- compatible_from: 0016
-- Hours of usage that are over, summed once, so that a month of a busy organisation is read from a few thousand rows.

create table usage_hour (
  org_id text not null,
  environment text not null,
  hour timestamptz not null constraint usage_hour_is_whole check (date_trunc('hour', hour, 'UTC') = hour),
  project_id text not null,
  key_id text not null,
  model text not null,
  provider text not null,
  byok boolean not null,
  app_id text not null,
  requests bigint not null,
  ok bigint not null,
  errors bigint not null,
  input_tokens bigint not null,
  output_tokens bigint not null,
  cache_read_tokens bigint not null,
  cache_write_tokens bigint not null,
  reasoning_tokens bigint not null,
  cost_micro bigint not null,
  primary key (org_id, environment, hour, project_id, key_id, model, provider, byok, app_id)
);
-- Hours before `until` are in usage_hour and nowhere else to be counted; null before the first run. One row: whoever
-- changes a sealed hour holds it.
create table usage_seal (
  one boolean primary key default true constraint usage_seal_is_one check (one),
  until timestamptz
);
insert into usage_seal default values;
