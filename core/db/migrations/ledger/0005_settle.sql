-- compatible_from: 0005
-- Settles of a batch: what calls cost, their metering records, the lots they burn.

create function ledger.units_by_item(p_nums int[], p_items int) returns text[] language plpgsql immutable as $$
-- What stands in `p_nums` behind the twelve integers of each item: of each item its other units as an array literal.
declare
  v_units text[] := array_fill(null::text, array[p_items]);
  v_item int;
begin
  if (cardinality(p_nums) - p_items * 12) % 3 <> 0 then
    raise exception 'other units that are no triples' using errcode = '22L05';
  end if;
  for i in p_items * 12 + 1..cardinality(p_nums) by 3 loop
    v_item := p_nums[i];
    if v_item is null or v_item not between 1 and p_items then
      raise exception 'other units of no item' using errcode = '22L05';
    end if;
    v_units[v_item] := coalesce(rtrim(v_units[v_item], '}') || ',', '{') || coalesce(p_nums[i + 1]::text, 'NULL')
      || ',' || coalesce(p_nums[i + 2]::text, 'NULL') || '}';
  end loop;
  return v_units;
end $$;

create function ledger.units_alone(p_nums int[], p_items int, p_item int) returns int[] language sql immutable as $$
  -- The other units of one item of a batch, as they stand behind its twelve integers in a batch of its own. Those of
  -- no item go with every one, so that each is refused.
  select coalesce(
    array_agg(case when t.o > 0 then p_nums[i + t.o] when p_nums[i] = p_item then 1 end order by i, t.o), '{}')
  from generate_series(p_items * 12 + 1, cardinality(p_nums), 3) i, generate_series(0, 2) t(o)
  where p_nums[i] = p_item or (p_nums[i] between 1 and p_items) is not true
$$;

create function ledger.units_send(p_units text[]) returns bytea language sql immutable as $$
  -- Other units of the items of a block as its hash covers them: of each item that has some its place and its pairs.
  select coalesce(string_agg(int4send(u.i::int) || array_send(u.units::int[]), '' order by u.i), '')
  from unnest(p_units) with ordinality u(units, i) where u.units is not null
$$;

create function ledger.first_lot(p_book bigint) returns bigint language plpgsql stable as $$
-- Burn order: earliest expiry first, at equal expiry granted before paid, then oldest. The oldest is the one of the
-- lowest seq: `created_at` never falls with it, while numbers of an identity are in no order once a book has moved.
begin
  return (select lot_no from ledger.lot where book_id = p_book and is_open
          order by expires_at, is_grant desc, seq limit 1);
end $$;

create function ledger.burn_lots(
  p_book bigint, p_block bigint, p_amount bigint, p_lot bigint, p_paid_only boolean, p_before timestamptz
) returns bigint language plpgsql as $$
-- Burns `p_amount` from the open lots in burn order, or from `p_lot` alone; returns the granted part of it.
declare
  v_left bigint := p_amount;
  v_granted bigint := 0;
  v_part bigint;
  l ledger.lot;
begin
  for l in
    select * from ledger.lot x where x.book_id = p_book and x.is_open and (p_lot is null or x.lot_no = p_lot)
      and not (p_paid_only and x.is_grant) and (p_before is null or x.created_at < p_before)
    order by x.expires_at, x.is_grant desc, x.seq
  loop
    exit when v_left = 0;
    v_part := least(v_left, l.amount - l.burned);
    update ledger.lot x set burned = x.burned + v_part, is_open = x.burned + v_part < x.amount
    where x.lot_no = l.lot_no;
    insert into ledger.burn (lot_no, from_micro, to_micro, book_id, block_no)
    values (l.lot_no, l.burned, l.burned + v_part, p_book, p_block);
    if l.is_grant then v_granted := v_granted + v_part; end if;
    v_left := v_left - v_part;
  end loop;
  -- Lots hold available + held (L5), so this is a defect, and nothing of the batch may stand.
  if v_left > 0 then raise exception 'lots short in book %', p_book using errcode = 'XX001'; end if;
  return v_granted;
end $$;

create function ledger.tell_low(p_book bigint, p_balance bigint, p_mark bigint, p_now timestamptz) returns void
language plpgsql as $$
begin
  insert into ledger.outbox (org_id, topic, payload, created_at)
  select org_id, 'credits.low', jsonb_build_object('available_micro_usd', p_balance, 'threshold_micro', p_mark), p_now
  from ledger.book where book_id = p_book;
end $$;

-- Items ascend by (book, request id), so that the metering records of a block have an order of their own and a
-- doubled id shows. p_nums: twelve integers per item, in the order of the columns of ledger.meter from model_no to
-- estimated; behind those of all items three for each other unit: place of its item, kind, count, kinds ascending
-- within an item. Letters of o_status: s settled   l settled late, without a hold   d settled before   u unknown
-- book, key or project   e refused. o_charged is null when every charge equals its cost.
create function ledger.settle_run(
  p_books bigint[], p_wkind smallint[], p_wsub int[], p_wstart date[], p_wbix int[],
  p_id uuid[], p_bix int[], p_kix int[], p_pix int[], p_cost bigint[], p_nums int[], p_now timestamptz,
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
  select array_agg(u.i order by u.i), array_agg(t.amount order by u.i), array_agg(u.id), count(*)
  into v_found, v_amount, v_gone, v_count
  from unnest(p_id, p_bix) with ordinality u(id, b, i)
  cross join lateral (select x.amount from ledger.hold x
                      where x.hold_id = u.id and x.book_id = p_books[u.b] limit 1) t;
  if v_count > 0 then
    delete from ledger.hold t where t.hold_id = any (v_gone);
    get diagnostics v_deleted = row_count;
    -- Fewer holds than items: their book is locked, so nobody else took one.
    if v_deleted <> v_count then raise exception 'an id twice in one batch' using errcode = '22L04'; end if;
  end if;

  o_status := repeat('s', n);
  if v_count = n then
    v_hold := v_amount;
  else -- some holds are missing: settled before, lost, released or swept
    v_hold := array_fill(null::bigint, array[n]);
    for i in 1..v_count loop v_hold[v_found[i]] := v_amount[i]; end loop;
    for r in
      select u.i::int as i, case when q.is_metered then 'd' when t.is_held then 'e' else 'l' end as letter
      from unnest(p_id, v_hold) with ordinality u(id, h, i)
      left join lateral (select true as is_metered from ledger.meter x where x.request_id = u.id limit 1) q on true
      left join lateral (select true as is_held from ledger.hold x where x.hold_id = u.id limit 1) t on true
      where u.h is null
    loop
      o_status := overlay(o_status placing r.letter from r.i for 1);
      if r.letter = 'l' then v_hold[r.i] := 0; else v_dup := v_dup || r.i; end if;
    end loop;
    if v_dup is not null then -- go on with the others alone
      if cardinality(v_dup) = n then return; end if;
      select array_agg(j), array_agg(p_id[j]), array_agg(p_bix[j]), array_agg(p_kix[j]), array_agg(p_pix[j]),
        array_agg(p_cost[j]), array_agg(v_hold[j]), case when v_units is not null then array_agg(v_units[j]) end
      into v_keep, p_id, p_bix, p_kix, p_pix, p_cost, v_hold, v_units
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
    v_units[u.o / 12]::int[]
  from (select x.*, x.i::int * 12 as o from unnest(p_id, p_bix, v_eseq, p_cost, p_kix, p_pix)
        with ordinality x(id, b, s, c, k, p, i)) u;
  if v_off then
    insert into ledger.writeoff (book_id, seq, amount, request_id)
    select p_books[u.b], u.s, u.c - u.g, u.id
    from unnest(p_id, p_bix, v_eseq, p_cost, v_charged) u(id, b, s, c, g) where u.c > u.g;
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

create function ledger.settle(
  p_books bigint[], p_wkind smallint[], p_wsub int[], p_wstart date[], p_wbix int[],
  p_id uuid[], p_bix int[], p_kix int[], p_pix int[], p_cost bigint[], p_nums int[], p_claimed uuid[],
  p_now timestamptz, out o_status text, out o_charged bigint[], out o_available bigint[]
) language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  r record;
begin
  begin
    select x.o_status, x.o_charged, x.o_available into o_status, o_charged, o_available
    from ledger.settle_run(p_books, p_wkind, p_wsub, p_wstart, p_wbix, p_id, p_bix, p_kix, p_pix, p_cost, p_nums,
      p_now) x;
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
          p_cost[i:i], p_nums[i * 12 - 11:i * 12] || ledger.units_alone(p_nums, cardinality(p_id), i), p_now);
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
    where t.request_id = any (p_claimed) and q.request_id = t.request_id and t.state = 'running';
  end if;
end $$;
