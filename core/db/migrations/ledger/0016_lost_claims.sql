-- compatible_from: 0015
-- Of the calls under one Idempotency-Key one is charged, however long a gateway was taken for dead. A call whose hold was
-- swept could end all the same, and was charged without a look at its key: beside the call that had its key by then, or
-- before one that came for the key after it. Now the claim of a swept call stays, as `lost`, until another call takes it;
-- and a settle that finds no hold is charged only where the claim still names its call.
alter table ledger.idempotency drop constraint claim_state_is_known,
  add constraint claim_state_is_known check (state in ('running', 'lost', 'done')),
  drop constraint claim_ended_iff_done,
  add constraint claim_ended_iff_not_running check ((ended_at is not null) = (state <> 'running'));
-- Beside `idempotency_ended`, for the job that deletes those of a month ago: hardly any claim is lost.
create index idempotency_lost on ledger.idempotency (ended_at) where state = 'lost';

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
    v_rcap := array_fill(null::bigint, array[cardinality(v_runs)]);
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

-- Letters of o_status, besides those of before: r replaced, another call has its key, or had it; it is not booked.
drop function ledger.settle_run(bigint[], smallint[], int[], date[], int[], uuid[], int[], int[], int[], bigint[], int[],
  timestamptz, uuid[]);
create function ledger.settle_run(
  p_books bigint[], p_wkind smallint[], p_wsub int[], p_wstart date[], p_wbix int[],
  p_id uuid[], p_bix int[], p_kix int[], p_pix int[], p_cost bigint[], p_nums int[], p_now timestamptz,
  p_run uuid[], p_claimed uuid[],
  out o_status text, out o_charged bigint[], out o_available bigint[]
) language plpgsql as $$
declare
  n int := cardinality(p_id);
  m int := cardinality(p_books);
  v_count int; v_deleted int; v_is_due boolean := false;
  v_found int[]; v_gone uuid[]; v_amount bigint[]; v_hold bigint[]; v_dup int[]; v_keep int[];
  v_held bigint[]; v_granted bigint[]; v_seq bigint[]; v_block bigint[]; v_head bytea[]; v_lot bigint[];
  v_low bigint[]; v_at timestamptz[];
  v_first bigint[]; v_taken bigint[]; v_n int[]; v_lo int[];
  v_charged bigint[]; v_balance bigint[]; v_eseq bigint[]; v_spend bigint[]; v_unheld bigint[];
  v_off boolean := false;
  v_burned int[]; v_burned_lot bigint[]; v_burned_to bigint[]; v_burned_by bigint[];
  v_units text[]; -- of each item its other units as an array literal, or null; null when no item has any
  v_run uuid[]; -- of each item the run whose budget it counts in, or null; null when no item has any
  v_found_run uuid[]; v_runs int;
  v_last uuid;
  r record;
  a bigint; sh bigint; s bigint; t bigint; h bigint; c bigint; b int; cb int := 0; k int; lo int; hi int;
begin
  select array_agg(x.available), array_agg(x.held), array_agg(x.granted), array_agg(x.seq), array_agg(x.block_no),
    array_agg(x.head), array_agg(x.current_lot_no), array_agg(x.low_mark), array_agg(greatest(x.last_at, p_now))
  into o_available, v_held, v_granted, v_seq, v_block, v_head, v_lot, v_low, v_at
  from (select * from ledger.book where book_id = any (p_books) order by book_id for no key update) x;
  if cardinality(o_available) is distinct from m then
    raise exception 'unknown book' using errcode = '22L01';
  end if;

  if cardinality(p_nums) > n * 12 then v_units := ledger.units_by_item(p_nums, n); end if;

  -- Deleting the hold is what makes a settle happen once; the primary key of the meter is the second lock.
  select array_agg(u.i order by u.i), array_agg(t.amount order by u.i), array_agg(u.id), count(*),
    array_agg(t.run order by u.i), count(t.run)
  into v_found, v_amount, v_gone, v_count, v_found_run, v_runs
  from unnest(p_id, p_bix) with ordinality u(id, b, i)
  cross join lateral (select x.amount, x.run from ledger.hold x
                      where x.hold_id = u.id and x.book_id = p_books[u.b] limit 1) t;
  if v_count > 0 then
    delete from ledger.hold t where t.hold_id = any (v_gone);
    get diagnostics v_deleted = row_count;
    -- Fewer holds than items: their book is locked, so nobody else took one.
    if v_deleted <> v_count then raise exception 'an id twice in one batch' using errcode = '22L04'; end if;
  end if;

  -- A hold names its run; of a call whose hold is gone the settle says it.
  if v_runs > 0 or cardinality(p_run) > 0 then
    v_run := case when cardinality(p_run) > 0 then p_run else array_fill(null::uuid, array[n]) end;
    for i in 1..v_count loop v_run[v_found[i]] := v_found_run[i]; end loop;
  end if;

  o_status := repeat('s', n);
  if v_count = n then
    v_hold := v_amount;
  else -- some holds are missing: settled before, lost, released or swept
    v_hold := array_fill(null::bigint, array[n]);
    for i in 1..v_count loop v_hold[v_found[i]] := v_amount[i]; end loop;
    for r in
      select u.i::int as i, case when q.is_metered then 'd' when t.is_held then 'e'
        when u.id = any (p_claimed) and c.is_ours is null then 'r' else 'l' end as letter
      from unnest(p_id, v_hold) with ordinality u(id, h, i)
      left join lateral (select true as is_metered from ledger.meter x where x.request_id = u.id limit 1) q on true
      left join lateral (select true as is_held from ledger.hold x where x.hold_id = u.id limit 1) t on true
      left join lateral (select true as is_ours from ledger.idempotency x where x.request_id = u.id limit 1) c on true
      where u.h is null
    loop
      o_status := overlay(o_status placing r.letter from r.i for 1);
      if r.letter = 'l' then v_hold[r.i] := 0; else v_dup := v_dup || r.i; end if;
    end loop;
    if v_dup is not null then -- go on with the others alone
      if cardinality(v_dup) = n then return; end if;
      select array_agg(j), array_agg(p_id[j]), array_agg(p_bix[j]), array_agg(p_kix[j]), array_agg(p_pix[j]),
        array_agg(p_cost[j]), array_agg(v_hold[j]), case when v_units is not null then array_agg(v_units[j]) end,
        case when v_run is not null then array_agg(v_run[j]) end
      into v_keep, p_id, p_bix, p_kix, p_pix, p_cost, v_hold, v_units, v_run
      from (select j from generate_series(1, n) j where j <> all (v_dup) order by j) x;
      select array_agg(p_nums[(x.j - 1) * 12 + y] order by x.i, y) into p_nums
      from unnest(v_keep) with ordinality x(j, i), generate_series(1, 12) y;
      n := cardinality(p_id);
    end if;
    perform ledger.win_create(p_books, p_wkind, p_wsub, p_wstart, p_wbix);
  end if;

  v_charged := p_cost; v_balance := p_cost; v_eseq := p_cost;
  v_first := array_fill(0::bigint, array[m]); v_taken := v_first;
  v_n := array_fill(0, array[m]); v_lo := v_n;
  v_spend := array_fill(0::bigint, array[cardinality(p_wsub)]); v_unheld := v_spend;
  for i in 1..n loop
    b := p_bix[i]; h := v_hold[i]; c := p_cost[i];
    if b <> cb then
      if b < cb then raise exception 'items not grouped by book' using errcode = '22L02'; end if;
      if cb > 0 then
        o_available[cb] := a; v_held[cb] := sh; v_seq[cb] := s; v_taken[cb] := t; v_n[cb] := i - v_lo[cb];
      end if;
      cb := b; a := o_available[b]; sh := v_held[b]; s := v_seq[b]; t := 0; v_lo[b] := i; v_first[b] := s + 1;
    elsif p_id[i] <= v_last then
      raise exception 'items not ascending' using errcode = '22L02';
    end if;
    v_last := p_id[i];
    if c < 0 then raise exception 'negative cost' using errcode = '22L03'; end if;
    a := a + h;
    sh := sh - h;
    if c > 0 then s := s + 1; v_eseq[i] := s; else v_eseq[i] := 0; end if;
    if c > a then c := a; v_charged[i] := c; v_off := true; end if; -- never below zero; the rest is written off
    a := a - c;
    t := t + c;
    v_balance[i] := a + sh;
    k := p_kix[i]; v_spend[k] := v_spend[k] + c; v_unheld[k] := v_unheld[k] + h;
    k := p_pix[i]; v_spend[k] := v_spend[k] + c; v_unheld[k] := v_unheld[k] + h;
  end loop;
  o_available[cb] := a; v_held[cb] := sh; v_seq[cb] := s; v_taken[cb] := t; v_n[cb] := n + 1 - v_lo[cb];

  insert into ledger.entry (book_id, seq, amount, balance_after, created_at, request_id, kind)
  select p_books[u.b], u.s, -u.c, u.balance, v_at[u.b], u.id, 1
  from unnest(p_id, p_bix, v_eseq, v_charged, v_balance) u(id, b, s, c, balance) where u.s > 0;
  insert into ledger.meter
  select u.id, p_books[u.b], v_block[u.b] + 1, nullif(u.s, 0), u.c, p_wsub[u.k], p_wsub[u.p],
    p_nums[u.o - 11], p_nums[u.o - 10], p_nums[u.o - 9], p_nums[u.o - 8], p_nums[u.o - 7], p_nums[u.o - 6],
    p_nums[u.o - 5], p_nums[u.o - 4], p_nums[u.o - 3], p_nums[u.o - 2], p_nums[u.o - 1], p_nums[u.o] <> 0,
    v_units[u.o / 12]::int[], v_run[u.o / 12]
  from (select x.*, x.i::int * 12 as o from unnest(p_id, p_bix, v_eseq, p_cost, p_kix, p_pix)
        with ordinality x(id, b, s, c, k, p, i)) u;
  if v_off then
    insert into ledger.writeoff (book_id, seq, amount, request_id)
    select p_books[u.b], u.s, u.c - u.g, u.id
    from unnest(p_id, p_bix, v_eseq, p_cost, v_charged) u(id, b, s, c, g) where u.c > u.g;
  end if;

  if v_run is not null then
    -- A run without a row is one of late calls alone, for which nothing is held.
    insert into ledger.run as t (book_id, run, cap, spent, held, after_block, used_at)
    select p_books[u.b], u.run, 0, sum(u.g)::bigint, sum(u.h)::bigint, min(v_block[u.b]), p_now
    from unnest(v_run, p_bix, v_charged, v_hold) u(run, b, g, h) where u.run is not null group by 1, 2
    on conflict (book_id, run) do update set spent = t.spent + excluded.spent, held = t.held - excluded.held,
      used_at = ledger.used_at(t.used_at, excluded.used_at);
  end if;

  -- Lots: the current lot takes all of it ...
  for r in
    update ledger.lot l set burned = l.burned + u.t from unnest(v_lot, v_taken) with ordinality u(lot_no, t, i)
    where l.lot_no = u.lot_no and u.t > 0 and l.burned + u.t < l.amount
    returning u.i::int as i, u.t, l.lot_no, l.burned, l.is_grant
  loop
    v_burned := v_burned || r.i;
    v_burned_lot := v_burned_lot || r.lot_no;
    v_burned_to := v_burned_to || r.burned;
    v_burned_by := v_burned_by || r.t;
    if r.is_grant then v_granted[r.i] := v_granted[r.i] - r.t; end if;
    v_taken[r.i] := -r.t; -- negative: burned
  end loop;
  if v_burned is not null then
    insert into ledger.burn (lot_no, from_micro, to_micro, book_id, block_no)
    select u.lot_no, u.upto - u.t, u.upto, p_books[u.i], v_block[u.i] + 1
    from unnest(v_burned, v_burned_lot, v_burned_to, v_burned_by) u(i, lot_no, upto, t);
  end if;
  for b in 1..m loop
    continue when v_n[b] = 0;
    t := abs(v_taken[b]);
    if v_taken[b] > 0 then -- ... or the walk goes on through the lots in burn order
      v_granted[b] := v_granted[b] - ledger.burn_lots(p_books[b], v_block[b] + 1, t, null, false, null);
      v_lot[b] := ledger.first_lot(p_books[b]);
    end if;
    s := o_available[b] + v_held[b];
    if v_low[b] > s and v_low[b] <= s + t then perform ledger.tell_low(p_books[b], s, v_low[b], p_now); end if;
    lo := v_lo[b];
    hi := lo + v_n[b] - 1;
    v_block[b] := v_block[b] + 1;
    v_head[b] := sha256(v_head[b] || int8send(p_books[b]) || int8send(v_block[b]) || int8send(v_first[b])
      || int8send(s + t) || timestamptz_send(v_at[b]) || array_send(p_id[lo:hi]) || array_send(v_charged[lo:hi])
      || array_send(p_cost[lo:hi]) || array_send(p_nums[lo * 12 - 11:hi * 12])
      || case when v_units is null then '' else ledger.units_send(v_units[lo:hi]) end);
  end loop;

  v_count := 0;
  for r in
    update ledger.win w set spent = w.spent + u.spend, held = w.held - u.unheld
    from unnest(p_wkind, p_wsub, p_wstart, p_wbix, v_spend, v_unheld) u(kind, sub, start, bix, spend, unheld)
    where w.kind = u.kind and w.subject = u.sub and w.start = u.start and w.book_id = p_books[u.bix]
    returning w.spent >= w.next_alert or (w.hard and w.spent >= w.cap and w.exhausted_at is null) as is_due
  loop
    v_count := v_count + 1;
    if r.is_due then v_is_due := true; end if;
  end loop;
  if v_count <> cardinality(p_wsub) then
    raise exception 'unknown key or project' using errcode = '22L01';
  end if;
  if v_is_due then perform ledger.tell_budgets(p_wkind, p_wsub, p_wstart, p_now); end if;

  insert into ledger.block (book_id, block_no, first_seq, entries, meters, created_at, hash)
  select u.id, u.block_no, u.first, (u.seq - u.first + 1)::int, u.n, u.at, u.head
  from unnest(p_books, v_block, v_first, v_seq, v_n, v_at, v_head) u(id, block_no, first, seq, n, at, head)
  where u.n > 0;
  update ledger.book t set available = u.a, held = u.h, granted = u.g, seq = u.s, block_no = u.block_no,
    head = u.head, current_lot_no = u.lot, last_at = u.at
  from unnest(p_books, o_available, v_held, v_granted, v_seq, v_block, v_head, v_lot, v_at, v_n)
    u(id, a, h, g, s, block_no, head, lot, at, n)
  where t.book_id = u.id and u.n > 0;
  if v_off and v_keep is null then
    o_charged := v_charged;
  elsif v_off then
    o_charged := array_fill(0::bigint, array[length(o_status)]);
    for i in 1..n loop o_charged[v_keep[i]] := v_charged[i]; end loop;
  end if;
end $$;

create or replace function ledger.settle(
  p_books bigint[], p_wkind smallint[], p_wsub int[], p_wstart date[], p_wbix int[],
  p_id uuid[], p_bix int[], p_kix int[], p_pix int[], p_cost bigint[], p_nums int[], p_claimed uuid[],
  p_now timestamptz, p_run uuid[] default '{}',
  out o_status text, out o_charged bigint[], out o_available bigint[]
) language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  r record;
begin
  begin
    select x.o_status, x.o_charged, x.o_available into o_status, o_charged, o_available
    from ledger.settle_run(p_books, p_wkind, p_wsub, p_wstart, p_wbix, p_id, p_bix, p_kix, p_pix, p_cost, p_nums,
      p_now, p_run, p_claimed) x;
  exception when data_exception or integrity_constraint_violation then
    o_status := null;
  end;
  if o_status is null then -- as in hold: all locks first, then item by item
    perform from ledger.book where book_id = any (p_books) order by book_id for no key update;
    o_status := '';
    o_charged := p_cost;
    for i in 1..cardinality(p_id) loop
      begin
        select * into r from ledger.settle_run(p_books[p_bix[i]:p_bix[i]],
          array[p_wkind[p_kix[i]], p_wkind[p_pix[i]]], array[p_wsub[p_kix[i]], p_wsub[p_pix[i]]],
          array[p_wstart[p_kix[i]], p_wstart[p_pix[i]]], array[1, 1], p_id[i:i], array[1], array[1], array[2],
          p_cost[i:i], p_nums[i * 12 - 11:i * 12] || ledger.units_alone(p_nums, cardinality(p_id), i), p_now,
          p_run[i:i], p_claimed);
        o_status := o_status || coalesce(r.o_status, 'e');
        if r.o_charged is not null then o_charged[i] := r.o_charged[1]; end if;
      exception
        when data_exception then o_status := o_status || case when sqlstate = '22L01' then 'u' else 'e' end;
        when integrity_constraint_violation then o_status := o_status || 'e';
      end;
    end loop;
    select array_agg(b.available order by u.i) into o_available
    from unnest(p_books) with ordinality u(id, i) left join ledger.book b on b.book_id = u.id;
  end if;
  if cardinality(p_claimed) > 0 then
    update ledger.idempotency t set state = 'done', ended_at = p_now, cost = q.cost from ledger.meter q
    where t.request_id = any (p_claimed) and q.request_id = t.request_id and t.state <> 'done';
  end if;
end $$;

create or replace function ledger.release_run(p_books bigint[], p_id uuid[], p_lapsed boolean)
returns table (request_id uuid, book_id bigint, key_no int, project_no int, amount bigint)
language plpgsql as $$
-- Gives holds back and frees their claims; ids without a hold are ignored. With `p_lapsed` only those whose lease
-- has lapsed still, now that the book is locked; their claims are lost, and stay to tell a call that was slow, and not dead.
#variable_conflict use_column
declare
  v_now timestamptz;
  v_ids uuid[] := '{}'; v_of bigint[]; v_keys int[]; v_projects int[]; v_amounts bigint[]; v_days date[];
  v_runs uuid[]; v_in_run boolean := false;
  r record;
begin
  perform from ledger.book b where b.book_id = any (p_books) order by b.book_id for no key update;
  v_now := clock_timestamp();
  for r in
    delete from ledger.hold t using unnest(p_id) u(id)
    where t.hold_id = u.id and t.book_id = any (p_books)
      and not (p_lapsed and exists (select from ledger.lease l where l.lease_id = t.lease_id and l.expires_at > v_now))
    returning t.hold_id, t.book_id, t.key_no, t.project_no, t.amount, t.run
  loop
    v_ids := v_ids || r.hold_id;
    v_of := v_of || r.book_id;
    v_keys := v_keys || r.key_no;
    v_projects := v_projects || r.project_no;
    v_amounts := v_amounts || r.amount;
    v_days := v_days || ledger.ulid_day(r.hold_id);
    v_runs := array_append(v_runs, r.run);
    if r.run is not null then v_in_run := true; end if;
  end loop;
  if p_lapsed then
    update ledger.idempotency t set state = 'lost', ended_at = v_now from unnest(v_ids) u(id)
    where t.request_id = u.id and t.book_id = any (p_books) and t.state = 'running'
      and not exists (select from ledger.meter q where q.request_id = u.id);
  else
    delete from ledger.idempotency t using unnest(p_id) u(id)
    where t.request_id = u.id and t.book_id = any (p_books) and t.state <> 'done'
      and not exists (select from ledger.meter q where q.request_id = u.id);
  end if;
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
  if v_in_run then
    update ledger.run t set held = t.held - x.a
    from (select d.book_id, d.run, sum(d.amount)::bigint as a
          from unnest(v_of, v_runs, v_amounts) d(book_id, run, amount) where d.run is not null group by 1, 2) x
    where t.book_id = x.book_id and t.run = x.run;
  end if;
  update ledger.book t set held = t.held - x.a, available = t.available + x.a
  from (select d.book_id, sum(d.amount)::bigint as a from unnest(v_of, v_amounts) d(book_id, amount) group by 1) x
  where t.book_id = x.book_id;
  return query select * from unnest(v_ids, v_of, v_keys, v_projects, v_amounts);
end $$;

revoke all on function ledger.settle_run from public;
