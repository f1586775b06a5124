-- compatible_from: 0013
-- After a fail-over the sweeper waits as it does after a start of the server: a standby that takes over had been running.

-- What the sweeper saw when it was here last.
create table ledger.sweeping (
  one boolean primary key default true constraint sweeping_is_one_row check (one),
  -- Of the server; another one has taken over when it is another. Null before the first run.
  timeline text,
  ran_at timestamptz,
  -- Since when it has come regularly, on this timeline: leases have been renewable since.
  steady_since timestamptz not null default '-infinity'
);
insert into ledger.sweeping default values;
grant select on ledger.sweeping to svc_runtime;

create function ledger.timeline() returns text language plpgsql as $$
-- The timeline that the server writes to, which every promotion of a standby ends; empty where a server does not say.
begin
  return substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8);
exception when feature_not_supported or undefined_function or insufficient_privilege then
  return '';
end $$;
revoke all on function ledger.timeline from public;

create or replace function ledger.sweep(p_limit int)
returns table (request_id uuid, book_id bigint, key_no int, project_no int, amount bigint)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
-- Releases at most `p_limit` holds whose lease has lapsed and returns them. No lease could be renewed while the server was
-- away, so it waits one lease time first, in which gateways renew and settle from their journals: after a start of
-- the server, after another one took over, and when nobody has swept for half a minute (six runs of the job), as
-- when the server was frozen. Clocks of servers differ; what one of them wrote is judged by the other only after that time.
#variable_conflict use_column
declare
  v_books bigint[];
  v_ids uuid[];
  v_now timestamptz := clock_timestamp();
  v_timeline text := ledger.timeline();
  v_steady interval;
  s ledger.sweeping;
begin
  select * into s from ledger.sweeping for update;
  if s.timeline <> v_timeline or v_now - s.ran_at not between interval '0' and interval '30 seconds' then
    s.steady_since := v_now;
  end if;
  update ledger.sweeping set timeline = v_timeline, ran_at = v_now, steady_since = s.steady_since;
  v_steady := v_now - greatest(pg_postmaster_start_time(), s.steady_since);

  select array_agg(distinct x.book_id), array_agg(x.hold_id) into v_books, v_ids
  from (select h.book_id, h.hold_id from ledger.hold h left join ledger.lease l using (lease_id)
        where l.expires_at is null or (l.expires_at < v_now and make_interval(secs => l.seconds) < v_steady)
        limit p_limit) x;
  if v_ids is not null then
    return query select * from ledger.release_run(v_books, v_ids, true);
  end if;
  v_now := clock_timestamp();
  -- Claims whose process died between settle and answer: charged, but nothing to replay.
  update ledger.idempotency t set state = 'done', ended_at = v_now, cost = q.cost from ledger.meter q
  where t.state = 'running' and q.request_id = t.request_id
    and not exists (select from ledger.lease l where l.lease_id = t.lease_id
      and (l.expires_at > v_now or make_interval(secs => l.seconds) >= v_steady));
  -- A lease stays for a day after its end: its id is never given out again.
  delete from ledger.lease l where l.expires_at < v_now - interval '1 day'
    and not exists (select from ledger.hold h where h.lease_id = l.lease_id)
    and not exists (select from ledger.idempotency i where i.lease_id = l.lease_id and i.state = 'running');
end $$;
