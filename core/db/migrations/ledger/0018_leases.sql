-- compatible_from: 0017
-- Leases are written by functions, as everything else that goes by the database's clock: where a ledger is at a server of a cluster
-- (docs/operate/citus.md), a function runs there as a whole, and the clock that a lease is written by is the one that judges it.

create function ledger.take_lease(p_process text, p_seconds int, p_places text[]) returns bigint
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
-- A lease for a process, which knows `p_places` of the ledger; its number.
declare
  v_until timestamptz := clock_timestamp() + make_interval(secs => p_seconds);
  v_lease bigint;
begin
  insert into ledger.lease (process, seconds, places, expires_at) values (p_process, p_seconds, p_places, v_until)
  returning lease_id into v_lease;
  return v_lease;
end $$;

create function ledger.renew_lease(p_lease bigint) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
-- Renews a lease for its length; false when it is gone.
declare
  v_seconds int;
  v_until timestamptz;
begin
  select seconds into v_seconds from ledger.lease where lease_id = p_lease for no key update;
  v_until := clock_timestamp() + make_interval(secs => v_seconds);
  update ledger.lease set expires_at = v_until where lease_id = p_lease;
  return found;
end $$;

create function ledger.end_lease(p_lease bigint) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
-- Ends a lease now.
declare
  v_now timestamptz := clock_timestamp();
begin
  update ledger.lease set expires_at = v_now where lease_id = p_lease;
end $$;

create or replace function ledger.extend(p_books bigint[], p_id uuid[], p_total bigint[]) returns text
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
-- Raises holds to new totals, in order. Letters: o raised (or high enough), c insufficient credits, b budget,
-- m missing, e refused. An element of an array that is set as it stands ends the server of Citus 14.0.1: hence `v_total`.
declare
  v_status text := '';
  h ledger.hold;
  d bigint;
  v_total bigint;
  v_day date;
  v_month date;
  v_room boolean;
begin
  perform from ledger.book where book_id = any (p_books) order by book_id for no key update;
  for i in 1..cardinality(p_id) loop
    select * into h from ledger.hold where hold_id = p_id[i] and book_id = any (p_books);
    if not found then v_status := v_status || 'm'; continue; end if;
    v_total := p_total[i];
    d := v_total - h.amount;
    if d <= 0 then v_status := v_status || 'o'; continue; end if;
    v_day := ledger.ulid_day(h.hold_id);
    v_month := date_trunc('month', v_day::timestamp)::date;
    select bool_and(not w.hard or w.cap is null or w.spent + w.held + d <= w.cap) into v_room from ledger.win w
    where (w.kind, w.subject, w.start) in ((1, h.key_no, v_day), (2, h.project_no, v_month));
    if v_room is not true then v_status := v_status || 'b'; continue; end if;
    if h.run is not null then
      select t.spent + t.held + d <= t.cap into v_room from ledger.run t where t.book_id = h.book_id and t.run = h.run;
      if v_room is not true then v_status := v_status || 'b'; continue; end if;
    end if;
    update ledger.book set available = available - d, held = held + d where book_id = h.book_id and available >= d;
    if not found then v_status := v_status || 'c'; continue; end if;
    update ledger.win w set held = held + d
    where (w.kind, w.subject, w.start) in ((1, h.key_no, v_day), (2, h.project_no, v_month));
    if h.run is not null then
      update ledger.run t set held = held + d where t.book_id = h.book_id and t.run = h.run;
    end if;
    update ledger.hold set amount = v_total where hold_id = h.hold_id;
    v_status := v_status || 'o';
  end loop;
  return v_status;
end $$;

revoke all on function ledger.take_lease, ledger.renew_lease, ledger.end_lease from public;
grant execute on function ledger.take_lease, ledger.renew_lease, ledger.end_lease to svc_runtime;
