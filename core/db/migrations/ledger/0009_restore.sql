-- compatible_from: 0008
-- What a debit took can be put back where it came from: a gift that is cancelled, a refund that failed, a dispute that
-- was won. Burn ranges are history, so it comes back in new lots, one for each lot that it came from, with that one's
-- terms and its place in the burn order. `origin_seq` is that place, and names the entry that first brought the credit.

-- The debit or expiry that burned a range; null, and no byte of the row, where the calls of the block did.
alter table ledger.burn add column seq bigint;
update ledger.burn b set seq = k.first_seq from ledger.block k
where k.book_id = b.book_id and k.block_no = b.block_no and k.meters = 0;
create index burn_by_entry on ledger.burn (book_id, seq) where seq is not null;

alter table ledger.lot add column origin_seq bigint;
update ledger.lot set origin_seq = seq;
alter table ledger.lot alter column origin_seq set not null,
  drop constraint one_lot_per_entry,
  add constraint one_lot_per_entry_and_origin unique (book_id, seq, origin_seq),
  add constraint origin_is_no_later_entry check (origin_seq <= seq);
drop index ledger.lot_burn_order;
create index lot_burn_order on ledger.lot (book_id, expires_at, is_grant desc, origin_seq, seq) where is_open;

create or replace function ledger.first_lot(p_book bigint) returns bigint language plpgsql stable as $$
-- Burn order: earliest expiry first, at equal expiry granted before paid, then oldest. The oldest is the one whose
-- credit came with the lowest seq: `created_at` never falls with it, while numbers of an identity are in no order once
-- a book has moved.
begin
  return (select lot_no from ledger.lot where book_id = p_book and is_open
          order by expires_at, is_grant desc, origin_seq, seq limit 1);
end $$;

drop function ledger.burn_lots(bigint, bigint, bigint, bigint, boolean, timestamptz);
create function ledger.burn_lots(
  p_book bigint, p_block bigint, p_amount bigint, p_lot bigint, p_paid_only boolean, p_before timestamptz,
  p_origin bigint default null, p_seq bigint default null
) returns bigint language plpgsql as $$
-- Burns `p_amount` from the open lots in burn order, from `p_lot` alone, or from those of `p_origin`; returns the
-- granted part of it. `p_seq` is the entry of a debit or expiry.
declare
  v_left bigint := p_amount;
  v_granted bigint := 0;
  v_part bigint;
  l ledger.lot;
begin
  for l in
    select * from ledger.lot x where x.book_id = p_book and x.is_open and (p_lot is null or x.lot_no = p_lot)
      and (p_origin is null or x.origin_seq = p_origin)
      and not (p_paid_only and x.is_grant) and (p_before is null or x.created_at < p_before)
    order by x.expires_at, x.is_grant desc, x.origin_seq, x.seq
  loop
    exit when v_left = 0;
    v_part := least(v_left, l.amount - l.burned);
    update ledger.lot x set burned = x.burned + v_part, is_open = x.burned + v_part < x.amount
    where x.lot_no = l.lot_no;
    insert into ledger.burn (lot_no, from_micro, to_micro, book_id, block_no, seq)
    values (l.lot_no, l.burned, l.burned + v_part, p_book, p_block, p_seq);
    if l.is_grant then v_granted := v_granted + v_part; end if;
    v_left := v_left - v_part;
  end loop;
  -- Lots hold available + held (L5), so this is a defect, and nothing of the batch may stand.
  if v_left > 0 then raise exception 'lots short in book %', p_book using errcode = 'XX001'; end if;
  return v_granted;
end $$;

create or replace function ledger.credit(
  p_book bigint, p_lot_id text, p_amount bigint, p_grant boolean, p_expires timestamptz, p_kind smallint,
  p_ref_type text, p_ref_id text, p_now timestamptz, out o_seq bigint, out o_lot_id text, out o_replay boolean
) language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
-- One entry, one block, one lot, once per (kind, reference): a repeat returns what the first one made.
declare
  v ledger.book;
begin
  select * into strict v from ledger.book where book_id = p_book for no key update;
  select e.seq, l.lot_id, true into o_seq, o_lot_id, o_replay
  from ledger.entry e join ledger.lot l on l.book_id = e.book_id and l.seq = e.seq
  where e.book_id = p_book and e.kind = p_kind and e.ref_type = p_ref_type and e.ref_id = p_ref_id and e.amount > 0;
  if found then return; end if;
  insert into ledger.lot (lot_id, book_id, seq, origin_seq, is_grant, expires_at, created_at, amount)
  values (p_lot_id, p_book, v.seq + 1, v.seq + 1, p_grant, p_expires, greatest(v.last_at, p_now), p_amount);
  o_seq := ledger.post(v, p_amount, case when p_grant then p_amount else 0 end, p_kind, p_ref_type, p_ref_id,
    timestamptz_send(p_expires) || boolsend(p_grant) || convert_to(p_lot_id, 'UTF8'), p_now);
  o_lot_id := p_lot_id;
  o_replay := false;
end $$;

drop function ledger.debit(
  bigint, bigint, smallint, text, text, text, boolean, timestamptz, boolean, timestamptz);
create function ledger.debit(
  p_book bigint, p_amount bigint, p_kind smallint, p_ref_type text, p_ref_id text, p_lot_id text,
  p_paid_only boolean, p_before timestamptz, p_short text, p_now timestamptz,
  out o_status text, out o_seq bigint, out o_taken bigint
) language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
-- Takes `p_amount` out of one lot and what was put back of it, the paid lots or all, once per (kind, reference).
-- Status: ok, replay, insufficient (nothing was taken). Where it is not all there, `p_short` says what to do: `refuse`,
-- `take_less`, or `write_off`, which takes what is there and records the rest.
declare
  v ledger.book;
  v_origin bigint;
  v_reach bigint;
begin
  if p_amount <= 0 then raise exception 'a debit is positive' using errcode = '22L03'; end if;
  select * into strict v from ledger.book where book_id = p_book for no key update;
  select e.seq, -e.amount into o_seq, o_taken from ledger.entry e
  where e.book_id = p_book and e.kind = p_kind and e.ref_type = p_ref_type and e.ref_id = p_ref_id and p_kind <> 16;
  if found then o_status := 'replay'; return; end if;
  if p_lot_id is not null then
    select origin_seq into strict v_origin from ledger.lot where book_id = p_book and lot_id = p_lot_id;
  end if;
  select least(v.available, coalesce(sum(l.amount - l.burned), 0)::bigint) into v_reach from ledger.lot l
  where l.book_id = p_book and l.is_open and (v_origin is null or l.origin_seq = v_origin)
    and not (p_paid_only and l.is_grant) and (p_before is null or l.created_at < p_before);
  -- Only refunds, disputes and chargebacks leave an entry of nothing.
  if v_reach < p_amount and (p_short = 'refuse' or v_reach = 0 and p_kind not in (3, 17, 19)) then
    o_status := 'insufficient'; o_taken := 0; return;
  end if;
  o_taken := least(v_reach, p_amount);
  o_seq := ledger.post(v, -o_taken, -ledger.burn_lots(p_book, v.block_no + 1, o_taken, null, p_paid_only, p_before,
    v_origin, v.seq + 1), p_kind, p_ref_type, p_ref_id, '', p_now);
  if o_taken < p_amount and p_short = 'write_off' then
    insert into ledger.writeoff (book_id, seq, amount) values (p_book, o_seq, p_amount - o_taken);
  end if;
  o_status := 'ok';
end $$;

create function ledger.restore(
  p_book bigint, p_debit_kind smallint, p_kind smallint, p_ref_type text, p_ref_id text, p_lot_ids text[],
  p_now timestamptz, out o_status text, out o_seq bigint, out o_amount bigint
) language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
-- Puts back what the debit of this reference took, once: one entry, and a lot for each lot that the credit came from,
-- with its terms, its age and its place in the burn order. Status: ok, replay, nothing (there is no such debit, or it
-- took nothing). `p_lot_ids` are as many as the lots.
declare
  v ledger.book;
  v_debit bigint;
  v_granted bigint := 0;
  v_terms bytea := '';
  v_n int := 0;
  r record;
begin
  select * into strict v from ledger.book where book_id = p_book for no key update;
  select e.seq, e.amount into o_seq, o_amount from ledger.entry e
  where e.book_id = p_book and e.kind = p_kind and e.ref_type = p_ref_type and e.ref_id = p_ref_id and p_kind <> 16;
  if found then o_status := 'replay'; return; end if;
  select e.seq into v_debit from ledger.entry e where e.book_id = p_book and e.kind = p_debit_kind
    and e.ref_type = p_ref_type and e.ref_id = p_ref_id and p_debit_kind <> 16;
  o_amount := 0;
  for r in
    select l.origin_seq, l.is_grant, l.expires_at, l.created_at, sum(b.to_micro - b.from_micro)::bigint as amount
    from ledger.burn b join ledger.lot l on l.lot_no = b.lot_no
    where b.book_id = p_book and b.seq = v_debit group by 1, 2, 3, 4 order by 1
  loop
    v_n := v_n + 1;
    insert into ledger.lot (lot_id, book_id, seq, origin_seq, is_grant, expires_at, created_at, amount)
    values (p_lot_ids[v_n], p_book, v.seq + 1, r.origin_seq, r.is_grant, r.expires_at, r.created_at, r.amount);
    v_terms := v_terms || timestamptz_send(r.expires_at) || boolsend(r.is_grant)
      || convert_to(p_lot_ids[v_n], 'UTF8') || int8send(r.amount) || int8send(r.origin_seq);
    if r.is_grant then v_granted := v_granted + r.amount; end if;
    o_amount := o_amount + r.amount;
  end loop;
  if v_n = 0 then o_status := 'nothing'; return; end if;
  o_seq := ledger.post(v, o_amount, v_granted, p_kind, p_ref_type, p_ref_id, v_terms, p_now);
  o_status := 'ok';
end $$;

create or replace function ledger.expire_lot(p_lot bigint, p_now timestamptz)
returns bigint language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
-- Books the expiry of what is left of a lot and not needed by holds; returns the amount, 0 when nothing moved.
declare
  v ledger.book;
  l ledger.lot;
  v_amount bigint;
begin
  select b.* into v from ledger.book b join ledger.lot x using (book_id) where x.lot_no = p_lot for no key update of b;
  select * into l from ledger.lot where lot_no = p_lot;
  if not found or not l.is_open or l.expires_at > p_now then return 0; end if;
  v_amount := least(l.amount - l.burned, v.available);
  if v_amount = 0 then return 0; end if;
  perform ledger.post(v, -v_amount, -ledger.burn_lots(v.book_id, v.block_no + 1, v_amount, p_lot, false, null, null,
    v.seq + 1), 16::smallint, 'lot', l.lot_id, '', p_now);
  return v_amount;
end $$;

revoke all on all functions in schema ledger from public;
grant execute on function ledger.debit, ledger.restore to svc_runtime;
