-- compatible_from: 0006
-- Holds given back, raised, or swept when their process is gone.

create function ledger.release_run(p_books bigint[], p_id uuid[], p_lapsed boolean)
returns table (request_id uuid, book_id bigint, key_no int, project_no int, amount bigint)
language plpgsql as $$
-- Gives holds back and frees their claims; ids without a hold are ignored. With `p_lapsed` only those whose lease
-- has lapsed still, now that the book is locked.
#variable_conflict use_column
declare
  v_now timestamptz;
  v_ids uuid[] := '{}'; v_of bigint[]; v_keys int[]; v_projects int[]; v_amounts bigint[]; v_days date[];
  r record;
begin
  perform from ledger.book b where b.book_id = any (p_books) order by b.book_id for no key update;
  v_now := clock_timestamp();
  for r in
    delete from ledger.hold t using unnest(p_id) u(id)
    where t.hold_id = u.id and t.book_id = any (p_books)
      and not (p_lapsed and exists (select from ledger.lease l where l.lease_id = t.lease_id and l.expires_at > v_now))
    returning t.hold_id, t.book_id, t.key_no, t.project_no, t.amount
  loop
    v_ids := v_ids || r.hold_id;
    v_of := v_of || r.book_id;
    v_keys := v_keys || r.key_no;
    v_projects := v_projects || r.project_no;
    v_amounts := v_amounts || r.amount;
    v_days := v_days || ledger.ulid_day(r.hold_id);
  end loop;
  delete from ledger.idempotency t using unnest(case when p_lapsed then v_ids else p_id end) u(id)
  where t.request_id = u.id and t.book_id = any (p_books) and t.state = 'running'
    and not exists (select from ledger.meter q where q.request_id = u.id);
  if v_ids = '{}' then return; end if;
  update ledger.win w set held = w.held - x.a
  from (select y.kind, y.subject, y.start, sum(y.amount)::bigint as a
        from (select 1::smallint as kind, d.key_no as subject, d.day as start, d.amount
              from unnest(v_keys, v_days, v_amounts) d(key_no, day, amount)
              union all
              select 2::smallint, d.project_no, date_trunc('month', d.day::timestamp)::date, d.amount
              from unnest(v_projects, v_days, v_amounts) d(project_no, day, amount)) y
        group by 1, 2, 3) x
  where w.kind = x.kind and w.subject = x.subject and w.start = x.start;
  update ledger.book t set held = t.held - x.a, available = t.available + x.a
  from (select d.book_id, sum(d.amount)::bigint as a from unnest(v_of, v_amounts) d(book_id, amount) group by 1) x
  where t.book_id = x.book_id;
  return query select * from unnest(v_ids, v_of, v_keys, v_projects, v_amounts);
end $$;

create function ledger.release(p_books bigint[], p_id uuid[]) returns int
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  return (select count(*)::int from ledger.release_run(p_books, p_id, false));
end $$;

create function ledger.extend(p_books bigint[], p_id uuid[], p_total bigint[]) returns text
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
-- Raises holds to new totals, in order. Letters: o raised (or high enough), c insufficient credits, b budget,
-- m missing, e refused.
declare
  v_status text := '';
  h ledger.hold;
  d bigint;
  v_day date;
  v_month date;
  v_room boolean;
begin
  perform from ledger.book where book_id = any (p_books) order by book_id for no key update;
  for i in 1..cardinality(p_id) loop
    select * into h from ledger.hold where hold_id = p_id[i] and book_id = any (p_books);
    if not found then v_status := v_status || 'm'; continue; end if;
    d := p_total[i] - h.amount;
    if d <= 0 then v_status := v_status || 'o'; continue; end if;
    v_day := ledger.ulid_day(h.hold_id);
    v_month := date_trunc('month', v_day::timestamp)::date;
    select bool_and(not w.hard or w.cap is null or w.spent + w.held + d <= w.cap) into v_room from ledger.win w
    where (w.kind, w.subject, w.start) in ((1, h.key_no, v_day), (2, h.project_no, v_month));
    if v_room is not true then v_status := v_status || 'b'; continue; end if;
    update ledger.book set available = available - d, held = held + d where book_id = h.book_id and available >= d;
    if not found then v_status := v_status || 'c'; continue; end if;
    update ledger.win w set held = held + d
    where (w.kind, w.subject, w.start) in ((1, h.key_no, v_day), (2, h.project_no, v_month));
    update ledger.hold set amount = p_total[i] where hold_id = h.hold_id;
    v_status := v_status || 'o';
  end loop;
  return v_status;
end $$;

create function ledger.sweep(p_limit int)
returns table (request_id uuid, book_id bigint, key_no int, project_no int, amount bigint)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
-- Releases at most `p_limit` holds whose lease has lapsed and returns them. After a start of the server it waits one
-- lease time, so that gateways can renew and settle from their journals first.
#variable_conflict use_column
declare
  v_books bigint[];
  v_ids uuid[];
  v_now timestamptz := clock_timestamp();
  v_up interval := v_now - pg_postmaster_start_time();
begin
  select array_agg(distinct x.book_id), array_agg(x.hold_id) into v_books, v_ids
  from (select h.book_id, h.hold_id from ledger.hold h left join ledger.lease l using (lease_id)
        where l.expires_at is null or (l.expires_at < v_now and make_interval(secs => l.seconds) < v_up)
        limit p_limit) x;
  if v_ids is not null then
    return query select * from ledger.release_run(v_books, v_ids, true);
  end if;
  v_now := clock_timestamp();
  -- Claims whose process died between settle and answer: charged, but nothing to replay.
  update ledger.idempotency t set state = 'done', ended_at = v_now, cost = q.cost from ledger.meter q
  where t.state = 'running' and q.request_id = t.request_id
    and not exists (select from ledger.lease l where l.lease_id = t.lease_id and l.expires_at > v_now);
  -- A lease stays for a day after its end: its id is never given out again.
  delete from ledger.lease l where l.expires_at < v_now - interval '1 day'
    and not exists (select from ledger.hold h where h.lease_id = l.lease_id)
    and not exists (select from ledger.idempotency i where i.lease_id = l.lease_id and i.state = 'running');
end $$;
