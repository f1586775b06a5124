-- compatible_from: 0004
-- Holds of a batch, decided in order.

-- p_books: distinct, ascending. p_w*: the distinct windows (p_wbix: place of the book). p_bix, p_kix, p_pix:
-- each item's place among them. p_c*: claims, p_cix the item. Letters of o_status, one per item:
--   o held   c insufficient credits   k budget of the key   p budget of the project   d key claimed already
--   u unknown book, key or project   e refused
-- o_available: of each book afterwards.
create function ledger.hold_run(
  p_books bigint[], p_wkind smallint[], p_wsub int[], p_wstart date[], p_wbix int[],
  p_id uuid[], p_bix int[], p_kix int[], p_pix int[], p_amount bigint[],
  p_cix int[], p_cscope text[], p_chash bytea[], p_cprint bytea[], p_lease bigint, p_now timestamptz,
  out o_status text, out o_available bigint[]
) language plpgsql as $$
declare
  n int := cardinality(p_id);
  v_room0 bigint[];
  v_room bigint[];
  v_ok boolean[] := array_fill(true, array[n]);
  v_lost int[];
  v_count bigint;
  v_refused boolean := false;
  a bigint; b int; k int; p int;
begin
  select array_agg(x.available) into o_available
  from (select available from ledger.book where book_id = any (p_books) order by book_id for no key update) x;
  if cardinality(o_available) is distinct from cardinality(p_books) then
    raise exception 'unknown book' using errcode = '22L01';
  end if;
  o_status := repeat('o', n);

  if cardinality(p_cix) > 0 then
    delete from ledger.idempotency t using unnest(p_cscope, p_chash) c(scope, hash)
    where t.scope = c.scope and t.key_hash = c.hash and t.state = 'done' and t.ended_at < p_now - interval '24 hours';
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

  v_room := v_room0;
  for i in 1..n loop
    a := p_amount[i]; b := p_bix[i]; k := p_kix[i]; p := p_pix[i];
    if v_ok[i] and a <= o_available[b] and a <= v_room[k] and a <= v_room[p] and a >= 0 then
      o_available[b] := o_available[b] - a;
      v_room[k] := v_room[k] - a;
      v_room[p] := v_room[p] - a;
    elsif v_ok[i] then
      v_ok[i] := false;
      v_refused := true;
      o_status := overlay(o_status placing case
        when a is null or a < 0 then 'e' when a > o_available[b] then 'c' when a > v_room[k] then 'k' else 'p'
        end from i for 1);
    end if;
  end loop;

  update ledger.book t set available = u.a, held = t.held + (t.available - u.a)
  from unnest(p_books, o_available) u(id, a) where t.book_id = u.id and t.available <> u.a;
  update ledger.win w set held = w.held + (u.r0 - u.r)
  from unnest(p_wkind, p_wsub, p_wstart, v_room0, v_room) u(kind, sub, start, r0, r)
  where w.kind = u.kind and w.subject = u.sub and w.start = u.start and u.r0 <> u.r;
  insert into ledger.hold (hold_id, book_id, amount, key_no, project_no, lease_id)
  select u.id, p_books[u.b], u.a, p_wsub[u.k], p_wsub[u.p], p_lease
  from unnest(p_id, p_bix, p_kix, p_pix, p_amount, v_ok) u(id, b, k, p, a, ok) where u.ok;
  if v_refused then
    perform ledger.hold_refused(p_books, p_wkind, p_wsub, p_wstart, p_id, p_bix, p_kix, p_pix, p_cix, o_status, p_now);
  end if;
end $$;

create function ledger.hold_refused(
  p_books bigint[], p_wkind smallint[], p_wsub int[], p_wstart date[], p_id uuid[], p_bix int[], p_kix int[],
  p_pix int[], p_cix int[], p_status text, p_now timestamptz
) returns void language plpgsql as $$
-- What follows from refusals: claims are freed, `credits.exhausted` once per UTC day, `budget.exhausted` once.
declare
  r record;
begin
  delete from ledger.idempotency t using unnest(p_cix) c(i)
  where t.request_id = p_id[c.i] and substr(p_status, c.i, 1) in ('c', 'k', 'p', 'e');
  if strpos(p_status, 'c') > 0 then
    for r in
      update ledger.book t set exhausted_on = x.day
      from (select p_books[u.b] as book_id, max(p_wstart[u.k]) as day
            from unnest(p_bix, p_kix) with ordinality u(b, k, i) where substr(p_status, u.i::int, 1) = 'c' group by 1) x
      where t.book_id = x.book_id and (t.exhausted_on is null or t.exhausted_on < x.day)
      returning t.org_id, t.available, coalesce(t.low_mark, 0) as mark
    loop
      insert into ledger.outbox (org_id, topic, payload, created_at) values (r.org_id, 'credits.exhausted',
        jsonb_build_object('available_micro_usd', r.available, 'threshold_micro', r.mark), p_now);
    end loop;
  end if;
  for r in
    select distinct case substr(p_status, u.i::int, 1) when 'k' then u.k else u.p end as w
    from unnest(p_kix, p_pix) with ordinality u(k, p, i) where substr(p_status, u.i::int, 1) in ('k', 'p')
  loop
    perform ledger.exhaust(p_wkind[r.w], p_wsub[r.w], p_wstart[r.w], p_now);
  end loop;
end $$;

create function ledger.hold(
  p_books bigint[], p_wkind smallint[], p_wsub int[], p_wstart date[], p_wbix int[],
  p_id uuid[], p_bix int[], p_kix int[], p_pix int[], p_amount bigint[],
  p_cix int[], p_cscope text[], p_chash bytea[], p_cprint bytea[], p_lease bigint, p_now timestamptz,
  out o_status text, out o_available bigint[]
) language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_book bigint;
  v_claim int;
  r record;
  s text;
begin
  -- Fences off a process that was forgotten: its lease has lapsed and its holds would be swept at once.
  perform from ledger.lease where lease_id = p_lease and expires_at > clock_timestamp();
  if not found then raise exception 'the lease has lapsed' using errcode = '55L01'; end if;
  begin
    select x.o_status, x.o_available into o_status, o_available from ledger.hold_run(p_books, p_wkind, p_wsub,
      p_wstart, p_wbix, p_id, p_bix, p_kix, p_pix, p_amount, p_cix, p_cscope, p_chash, p_cprint, p_lease, p_now) x;
    return;
  exception when data_exception or integrity_constraint_violation then null;
  end;
  -- A poisoned item or a repeat: all locks first, in order, then each item in a subtransaction of its own.
  perform from ledger.book where book_id = any (p_books) order by book_id for no key update;
  o_status := '';
  for i in 1..cardinality(p_id) loop
    begin
      select h.book_id into v_book from ledger.hold h where h.hold_id = p_id[i];
      if found then
        s := case when v_book = p_books[p_bix[i]] then 'o' else 'e' end; -- repeat of a hold that stands
      else
        v_claim := array_position(p_cix, i);
        select * into r from ledger.hold_run(p_books[p_bix[i]:p_bix[i]],
          array[p_wkind[p_kix[i]], p_wkind[p_pix[i]]], array[p_wsub[p_kix[i]], p_wsub[p_pix[i]]],
          array[p_wstart[p_kix[i]], p_wstart[p_pix[i]]], array[1, 1], p_id[i:i], array[1], array[1], array[2],
          p_amount[i:i], case when v_claim is null then '{}' else array[1] end, p_cscope[v_claim:v_claim],
          p_chash[v_claim:v_claim], p_cprint[v_claim:v_claim], p_lease, p_now);
        s := r.o_status;
      end if;
    exception
      when data_exception then s := case when sqlstate = '22L01' then 'u' else 'e' end;
      when integrity_constraint_violation then s := 'e';
    end;
    o_status := o_status || coalesce(s, 'e');
  end loop;
  select array_agg(b.available order by u.i) into o_available
  from unnest(p_books) with ordinality u(id, i) left join ledger.book b on b.book_id = u.id;
end $$;
