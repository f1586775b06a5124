-- compatible_from: 0015
-- Request rows, partitioned by UTC day. `ts` is the time inside the request id, so an id alone finds its day.

create table request_row (
  request_id text not null,
  ts timestamptz not null,
  org_id text not null,
  environment text not null check (environment in ('live', 'test')),
  project_id text not null,
  key_id text not null,
  model text not null,
  provider text not null,
  endpoint_id text not null,
  region text not null,
  status text not null check (status in ('ok', 'error', 'cancelled', 'rejected')),
  http_status int not null,
  error_code text not null,
  stop_reason text not null,
  attempts int not null,
  input_tokens bigint not null,
  output_tokens bigint not null,
  cache_read_tokens bigint not null,
  cache_write_tokens bigint not null,
  reasoning_tokens bigint not null,
  usage_source text not null,
  cost_micro bigint not null,
  ttft_ms double precision,
  duration_ms double precision,
  upstream_ttft_ms double precision,
  gw_overhead_ms double precision,
  stream boolean not null,
  byok boolean not null,
  zdr boolean not null,
  logged boolean not null,
  app_id text not null,
  user_hash text not null,
  cell text not null,
  dialect_in text not null,
  upstream_model text not null,
  price_version_id text not null,
  bytes_in bigint not null,
  bytes_out bigint not null,
  tool_calls int not null,
  has_images boolean not null,
  has_tools boolean not null,
  has_schema boolean not null,
  tags jsonb not null,
  user_agent text not null,
  client_ip_prefix text not null,
  route_trace jsonb,
  warnings jsonb not null,
  -- How often the answer of the call was given again. Counted after the row is written, so it is no member of
  -- `request_row_v1`.
  replays int not null default 0 constraint replays_not_negative check (replays >= 0),
  primary key (request_id, ts)
) partition by range (ts);
create index request_row_walk on request_row (org_id, environment, ts desc, request_id desc);

create table request_attempt (
  request_id text not null,
  -- Of the call, not of the attempt: both tables share their days.
  call_ts timestamptz not null,
  attempt int not null,
  ts timestamptz not null,
  provider text not null,
  endpoint_id text not null,
  pool_id text not null,
  key_hint text not null,
  outcome text not null check (outcome in ('ok', 'error', 'timeout', 'cancelled', 'hedge_lost')),
  http_status int not null,
  error_class text not null,
  ttft_ms double precision,
  duration_ms double precision,
  output_tokens bigint not null,
  primary key (request_id, attempt, call_ts)
) partition by range (call_ts);

-- How batches arrive: one text literal of composites costs half of JSON (22 against 42 µs a row with its attempt). A
-- column added later comes with types of its own, so that a writer of the version before goes on.
create type request_row_v1 as (
  request_id text, ts timestamptz, org_id text, environment text, project_id text, key_id text, model text,
  provider text, endpoint_id text, region text, status text, http_status int, error_code text,
  stop_reason text, attempts int, input_tokens bigint, output_tokens bigint, cache_read_tokens bigint,
  cache_write_tokens bigint, reasoning_tokens bigint, usage_source text, cost_micro bigint,
  ttft_ms double precision, duration_ms double precision, upstream_ttft_ms double precision,
  gw_overhead_ms double precision, stream boolean, byok boolean, zdr boolean, logged boolean, app_id text,
  user_hash text, cell text, dialect_in text, upstream_model text, price_version_id text, bytes_in bigint,
  bytes_out bigint, tool_calls int, has_images boolean, has_tools boolean, has_schema boolean, tags jsonb,
  user_agent text, client_ip_prefix text, route_trace jsonb, warnings jsonb
);
create type request_attempt_v1 as (
  request_id text, call_ts timestamptz, attempt int, ts timestamptz, provider text, endpoint_id text,
  pool_id text, key_hint text, outcome text, http_status int, error_class text, ttft_ms double precision,
  duration_ms double precision, output_tokens bigint
);

-- A day nobody prepared (a moved test clock, a process that slept) still finds room.
create table request_row_default partition of request_row default;
create table request_attempt_default partition of request_attempt default;

-- Makes the partitions of `first` to `last` that are missing; a day whose rows already lie in the default
-- partition stays there. Owner's rights, so that the runtime role needs none on tables. Behind a long reader it makes
-- what it can at once and leaves the rest to its next run: writers would queue behind a lock that waits.
create function analytics_prepare_days(first date, last date) returns int
language plpgsql security definer
set search_path = public, pg_temp set timezone = 'UTC' set lock_timeout = 0 as $$
declare
  day date := first;
  made int := 0;
begin
  perform pg_advisory_xact_lock(7305118205);
  perform set_config('lock_timeout', '100ms', true);
  while day <= last loop
    if to_regclass(format('request_row_%s', to_char(day, 'YYYYMMDD'))) is null then
      begin
        execute format('create table request_row_%s partition of request_row for values from (%L) to (%L)',
          to_char(day, 'YYYYMMDD'), day::timestamptz, (day + 1)::timestamptz);
        execute format('create table request_attempt_%s partition of request_attempt for values from (%L) to (%L)',
          to_char(day, 'YYYYMMDD'), day::timestamptz, (day + 1)::timestamptz);
        made := made + 1;
      exception
        when check_violation then null;
        when lock_not_available then return made;
      end;
    end if;
    day := day + 1;
  end loop;
  return made;
end $$;

-- Drops the oldest day that is past its time, one in a call so that its lock is short: rows of days before
-- `rows_until`, attempts of days before `attempts_until`; at last what lies in the default partitions. Returns the
-- partition; null when none is left, or something long reads them now.
create function analytics_drop_day(rows_until date, attempts_until date) returns text
language plpgsql security definer
set search_path = public, pg_temp set timezone = 'UTC' set lock_timeout = '100ms' as $$
declare
  part text;
begin
  perform pg_advisory_xact_lock(7305118205);
  select c.relname into part from pg_inherits i join pg_class c on c.oid = i.inhrelid
   where i.inhparent in ('request_row'::regclass, 'request_attempt'::regclass) and c.relname ~ '_\d{8}$'
     and to_date(right(c.relname, 8), 'YYYYMMDD')
         < case i.inhparent when 'request_row'::regclass then rows_until else attempts_until end
   order by right(c.relname, 8), c.relname limit 1;
  if part is not null then
    execute format('drop table %I', part);
    return part;
  end if;
  delete from request_row_default where ts < rows_until::timestamptz;
  delete from request_attempt_default where call_ts < attempts_until::timestamptz;
  return null;
exception when lock_not_available then
  return null;
end $$;
revoke execute on function analytics_drop_day from public;
grant execute on function analytics_drop_day to svc_runtime;

select analytics_prepare_days((now() at time zone 'UTC')::date, (now() at time zone 'UTC')::date + 2);
