-- compatible_from: 0017
-- What calls said, kept only where an organisation has switched logging on; sealed, partitioned by UTC day.

create table request_payload (
  request_id text not null,
  -- The time inside the request id, so that an id alone finds its day.
  ts timestamptz not null,
  org_id text not null,
  -- AES-256-GCM under a key of the key ring, bound to the request id; JSON, deflated.
  sealed bytea not null,
  primary key (request_id, ts)
) partition by range (ts);
create index request_payload_org on request_payload (org_id, ts);

-- A day nobody prepared (a moved test clock, a process that slept) still finds room.
create table request_payload_default partition of request_payload default;

-- Makes the partitions of `first` to `last` that are missing; a day whose rows already lie in the default partition
-- stays there. Owner's rights, so that the runtime role needs none on tables. Behind a long reader what is left is made
-- by the next run.
create function payloads_prepare_days(first date, last date) returns int
language plpgsql security definer
set search_path = public, pg_temp set timezone = 'UTC' set lock_timeout = 0 as $$
declare
  day date := first;
  made int := 0;
begin
  perform pg_advisory_xact_lock(7305118206);
  perform set_config('lock_timeout', '100ms', true);
  while day <= last loop
    if to_regclass(format('request_payload_%s', to_char(day, 'YYYYMMDD'))) is null then
      begin
        execute format('create table request_payload_%s partition of request_payload for values from (%L) to (%L)',
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

-- Drops the days before `until` that hold nothing any more; returns how many.
create function payloads_drop_days(until date) returns int
language plpgsql security definer
set search_path = public, pg_temp set timezone = 'UTC' set lock_timeout = 0 as $$
declare
  part text;
  is_empty boolean;
  dropped int := 0;
begin
  perform pg_advisory_xact_lock(7305118206);
  perform set_config('lock_timeout', '100ms', true);
  for part in
    select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent = 'request_payload'::regclass and c.relname ~ '^request_payload_\d{8}$'
       and to_date(right(c.relname, 8), 'YYYYMMDD') < until
  loop
    execute format('select not exists (select from %I)', part) into is_empty;
    continue when not is_empty;
    begin
      execute format('drop table %I', part);
    exception when lock_not_available then return dropped; -- read by something long: the next run goes on
    end;
    dropped := dropped + 1;
  end loop;
  return dropped;
end $$;
