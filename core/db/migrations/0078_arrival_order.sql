-- compatible_from: 0054
-- When a row became readable: the order in which a tail sends rows, also late ones. Days from before have none.
alter table request_row add column stored_at timestamptz;
alter table request_row alter column stored_at set default clock_timestamp();
-- Rows lie in a partition in the order in which they came, so that a summary of its blocks finds the newest and costs a write
-- next to nothing.
create index request_row_arrival on request_row using brin (stored_at) with (pages_per_range = 16);

-- Rows of an organization that were stored in (first, last]. The planner does not know how well a summary fits before a day was
-- analysed, and would read the whole of it, so it is left no other way.
create function analytics_stored(of_org text, of_environment text, first timestamptz, last timestamptz, late interval)
returns setof request_row language sql stable
set enable_seqscan = off set enable_indexscan = off set max_parallel_workers_per_gather = 0
set search_path = public, pg_temp as $$
  select * from request_row
   where stored_at > first and stored_at <= last and ts >= first - late
     and org_id || '' = of_org and environment = of_environment
$$;

-- Blocks without a summary are read by every look, so a job makes the summaries of what came since. Returns how many.
create function analytics_summarise() returns int language sql security definer
set lock_timeout = '100ms' set search_path = public, pg_temp as $$
  select coalesce(sum(brin_summarize_new_values(c.oid::regclass)), 0)::int
    from pg_class t
    join pg_index i on i.indrelid = t.oid
    join pg_class c on c.oid = i.indexrelid
    join pg_am a on a.oid = c.relam
   where a.amname = 'brin' and c.relkind = 'i'
     and t.relname in (select 'request_row_' || to_char(now() at time zone 'UTC' - d * interval '1 day', 'YYYYMMDD')
                         from generate_series(0, 1) as d)
$$;
revoke all on function analytics_summarise() from public;
grant execute on function analytics_summarise() to svc_runtime;
