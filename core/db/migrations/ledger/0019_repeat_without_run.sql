-- compatible_from: 0018
-- A batch in which a hold is sent again, or one cannot be, is gone through item by item. A call without a run among calls of runs was
-- then refused as impossible, and its caller was told of a fault that is none: no run was taken for a number of runs that is unknown.
CREATE OR REPLACE FUNCTION ledger.hold_run(p_books bigint[], p_wkind smallint[], p_wsub integer[], p_wstart date[], p_wbix integer[], p_id uuid[], p_bix integer[], p_kix integer[], p_pix integer[], p_amount bigint[], p_cix integer[], p_cscope text[], p_chash bytea[], p_cprint bytea[], p_lease bigint, p_now timestamp with time zone, p_run uuid[], p_rcap bigint[], OUT o_status text, OUT o_available bigint[])
 RETURNS record
 LANGUAGE plpgsql
AS $function$
declare
  n int := cardinality(p_id);
  v_room0 bigint[];
  v_room bigint[];
  v_ok boolean[] := array_fill(true, array[n]);
  v_lost int[];
  v_count bigint;
  v_refused boolean := false;
  v_runs uuid[]; v_rbook int[]; v_used0 bigint[]; v_used bigint[]; v_rcap bigint[];
  a bigint; b int; k int; p int; g int;
begin
  select array_agg(x.available) into o_available
  from (select available from ledger.book where book_id = any (p_books) order by book_id for no key update) x;
  if cardinality(o_available) is distinct from cardinality(p_books) then
    raise exception 'unknown book' using errcode = '22L01';
  end if;
  o_status := repeat('o', n);

  if cardinality(p_cix) > 0 then
    delete from ledger.idempotency t using unnest(p_cscope, p_chash) c(scope, hash)
    where t.scope = c.scope and t.key_hash = c.hash and t.state <> 'running'
      and (t.state = 'lost' or t.ended_at < p_now - interval '24 hours');
    insert into ledger.idempotency (scope, key_hash, fingerprint, request_id, book_id, lease_id, created_at)
    select c.scope, c.hash, c.print, p_id[c.i], p_books[p_bix[c.i]], p_lease, p_now
    from unnest(p_cix, p_cscope, p_chash, p_cprint) c(i, scope, hash, print)
    on conflict on constraint one_claim_per_key do nothing;
    -- Lost is what is not claimed under its own id; a repeat after a lost COMMIT finds its own claim, which it keeps.
    select array_agg(c.i) into v_lost from unnest(p_cix, p_cscope, p_chash) c(i, scope, hash)
    where not exists (select from ledger.idempotency x
                      where x.scope = c.scope and x.key_hash = c.hash and x.request_id = p_id[c.i]);
    for i in 1..coalesce(cardinality(v_lost), 0) loop
      v_ok[v_lost[i]] := false;
      o_status := overlay(o_status placing 'd' from v_lost[i] for 1);
    end loop;
  end if;

  for pass in 1..2 loop
    select array_agg(case when w.hard and w.cap is not null then w.cap - w.spent - w.held
                     else 4611686018427387904 end order by u.i), count(w.book_id)
    into v_room0, v_count
    from unnest(p_wkind, p_wsub, p_wstart, p_wbix) with ordinality u(kind, sub, start, bix, i)
    -- LATERAL with LIMIT leaves the planner one choice, an index probe per window.
    left join lateral (select * from ledger.win x where x.kind = u.kind and x.subject = u.sub and x.start = u.start
                       and x.book_id = p_books[u.bix] limit 1) w on true;
    exit when v_count = cardinality(p_wsub);
    if pass = 2 then raise exception 'unknown key or project' using errcode = '22L01'; end if;
    perform ledger.win_create(p_books, p_wkind, p_wsub, p_wstart, p_wbix);
  end loop;

  if cardinality(p_run) > 0 then
    select array_agg(x.run), array_agg(x.bix), array_agg(x.used) into v_runs, v_rbook, v_used0
    from (select u.run, u.bix, coalesce(t.used, 0) as used
          from (select distinct y.run, y.bix from unnest(p_run, p_bix) y(run, bix) where y.run is not null) u
          left join lateral (select z.spent + z.held as used from ledger.run z
                             where z.book_id = p_books[u.bix] and z.run = u.run limit 1) t on true) x;
    v_used := v_used0;
    v_rcap := array_fill(null::bigint, array[coalesce(cardinality(v_runs), 0)]);
  end if;

  v_room := v_room0;
  for i in 1..n loop
    a := p_amount[i]; b := p_bix[i]; k := p_kix[i]; p := p_pix[i];
    if v_runs is not null then g := array_position(v_runs, p_run[i]); end if;
    if v_ok[i] and a <= o_available[b] and a <= v_room[k] and a <= v_room[p] and a >= 0
      and (g is null or v_used[g] + a <= p_rcap[i]) then
      o_available[b] := o_available[b] - a;
      v_room[k] := v_room[k] - a;
      v_room[p] := v_room[p] - a;
      if g is not null then
        v_used[g] := v_used[g] + a;
        v_rcap[g] := p_rcap[i];
      end if;
    elsif v_ok[i] then
      v_ok[i] := false;
      v_refused := true;
      o_status := overlay(o_status placing case
        when a is null or a < 0 then 'e' when a > o_available[b] then 'c' when a > v_room[k] then 'k'
        when a > v_room[p] then 'p' else 'r'
        end from i for 1);
    end if;
  end loop;

  update ledger.book t set available = u.a, held = t.held + (t.available - u.a)
  from unnest(p_books, o_available) u(id, a) where t.book_id = u.id and t.available <> u.a;
  update ledger.win w set held = w.held + (u.r0 - u.r)
  from unnest(p_wkind, p_wsub, p_wstart, v_room0, v_room) u(kind, sub, start, r0, r)
  where w.kind = u.kind and w.subject = u.sub and w.start = u.start and u.r0 <> u.r;
  if v_runs is not null then
    insert into ledger.run as t (book_id, run, cap, held, after_block, used_at)
    select b.book_id, u.run, u.cap, u.used - u.used0, b.block_no, p_now
    from unnest(v_runs, v_rbook, v_rcap, v_used0, v_used) u(run, bix, cap, used0, used)
    join ledger.book b on b.book_id = p_books[u.bix]
    where u.cap is not null
    on conflict (book_id, run) do update set held = t.held + excluded.held, cap = excluded.cap,
      used_at = ledger.used_at(t.used_at, excluded.used_at);
  end if;
  insert into ledger.hold (hold_id, book_id, amount, key_no, project_no, lease_id, run)
  select u.id, p_books[u.b], u.a, p_wsub[u.k], p_wsub[u.p], p_lease, u.run
  from unnest(p_id, p_bix, p_kix, p_pix, p_amount, v_ok, p_run) u(id, b, k, p, a, ok, run) where u.ok;
  if v_refused then
    if exists (select from unnest(p_id, v_ok) u(id, ok) join ledger.hold h on h.hold_id = u.id where not u.ok) then
      raise exception 'a hold that stands was sent again' using errcode = 'unique_violation';
    end if;
    perform ledger.hold_refused(p_books, p_wkind, p_wsub, p_wstart, p_id, p_bix, p_kix, p_pix, p_cix, o_status, p_now);
  end if;
end $function$
;
