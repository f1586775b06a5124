-- compatible_from: 0054
-- Sums of hours by one thing: a month by key, app or tag is then read from a few thousand rows, whatever else differs between calls.
-- They are made of `usage_hour` and of rows by a job; an hour of which they are missing or no longer right is in `usage_unsummed`. Triggers
-- put it there, so that a program of an earlier release does so too.

create table usage_value (
  org_id text not null,
  environment text not null,
  -- project, key, model, provider, byok, app; tag, user, session; tag_many, user_many, session_many: of these the hour has more values
  -- than are kept, and is read from rows.
  kind text not null,
  -- Of a tag; of tag_many "" is every tag.
  name text not null,
  hour timestamptz not null,
  value text not null,
  requests bigint not null,
  ok bigint not null,
  errors bigint not null,
  input_tokens bigint not null,
  output_tokens bigint not null,
  cache_read_tokens bigint not null,
  cache_write_tokens bigint not null,
  reasoning_tokens bigint not null,
  cost_micro bigint not null,
  primary key (org_id, environment, kind, name, hour, value)
);
-- Hours come one after another: by this an hour is found whatever it was summed by.
create index usage_value_hour on usage_value using brin (hour) with (pages_per_range = 16);
select fence_org('usage_value');

create table usage_unsummed (
  org_id text not null,
  environment text not null,
  hour timestamptz not null,
  -- Null: nothing was summed of it yet, and so nothing has to go.
  changed_at timestamptz,
  primary key (org_id, environment, hour)
);
create index usage_unsummed_newest on usage_unsummed (hour desc);
select fence_org('usage_unsummed');

insert into usage_unsummed (org_id, environment, hour) select distinct org_id, environment, hour from usage_hour;
insert into erasable_table (name) values ('usage_value'), ('usage_unsummed');

-- An update and not nothing on a conflict: who sums the hour holds its row, and is waited for.
create function usage_hour_is_new() returns trigger language plpgsql as $$
begin
  insert into usage_unsummed (org_id, environment, hour)
  select distinct org_id, environment, hour from changed order by 1, 2, 3
  on conflict (org_id, environment, hour) do update set changed_at = usage_unsummed.changed_at;
  return null;
end $$;
create function usage_hour_has_changed() returns trigger language plpgsql as $$
begin
  insert into usage_unsummed (org_id, environment, hour, changed_at)
  select distinct org_id, environment, hour, now() from changed order by 1, 2, 3
  on conflict (org_id, environment, hour) do update set changed_at = excluded.changed_at;
  return null;
end $$;
create trigger usage_hour_is_summed_again after insert on usage_hour
  referencing new table as changed for each statement execute function usage_hour_is_new();
create trigger usage_hour_lost_sums after delete on usage_hour
  referencing old table as changed for each statement execute function usage_hour_has_changed();
create trigger usage_hour_changed_sums after update on usage_hour
  referencing new table as changed for each statement execute function usage_hour_has_changed();

-- An end user was erased: what the row said goes from the sums in the same transaction, and its hour is summed again. An hour
-- that is not over is noted too: nobody sums it before its rows are as they were left here.
create function request_row_is_unlinked() returns trigger language plpgsql as $$
declare
  of_hour timestamptz := date_trunc('hour', old.ts, 'UTC');
begin
  insert into usage_unsummed (org_id, environment, hour, changed_at)
  values (old.org_id, old.environment, of_hour, now())
  on conflict (org_id, environment, hour) do update set changed_at = excluded.changed_at;
  delete from usage_value
   where org_id = old.org_id and environment = old.environment and hour = of_hour
     and (kind, name, value) in (
       select 'user', '', old.user_hash union all select 'session', '', old.session_id
       union all select 'tag', key, tag.value from jsonb_each_text(old.tags) as tag);
  return null;
end $$;
create trigger request_row_leaves_sums after update of user_hash, session_id, tags on request_row
  for each row when ((old.user_hash, old.session_id, old.tags) is distinct from (new.user_hash, new.session_id, new.tags))
  execute function request_row_is_unlinked();
