-- compatible_from: 0007
-- Books, and what moves credit beside calls: credits, debits, expiry.

create function ledger.open_book(p_book bigint, p_org text, p_environment smallint, p_low_mark bigint) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
-- Makes the book; again it does nothing. Another book of (org, environment) is refused by its constraint.
begin
  insert into ledger.book (book_id, org_id, environment, low_mark) values (p_book, p_org, p_environment, p_low_mark)
  on conflict (book_id) do nothing;
  perform from ledger.book where book_id = p_book and org_id = p_org and environment = p_environment;
  if not found then raise exception 'the book is another one' using errcode = '22L01'; end if;
end $$;

create function ledger.set_low_mark(p_book bigint, p_low_mark bigint) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  update ledger.book set low_mark = p_low_mark where book_id = p_book;
end $$;

create function ledger.post(
  p_book ledger.book, p_amount bigint, p_granted bigint, p_kind smallint, p_ref_type text, p_ref_id text,
  p_lot bytea, p_now timestamptz
) returns bigint language plpgsql as $$
-- One entry in a block of its own; the caller has locked `p_book` and moved the lots. Returns the seq. `p_lot`: the
-- terms of the lot that a credit brings, covered by the hash.
declare
  v_at timestamptz := greatest(p_book.last_at, p_now);
  v_before bigint := p_book.available + p_book.held;
  v_lot bigint := ledger.first_lot(p_book.book_id);
  v_hash bytea := sha256(p_book.head || int8send(p_book.book_id) || int8send(p_book.block_no + 1)
    || int8send(p_book.seq + 1) || int8send(v_before) || timestamptz_send(v_at) || int8send(p_amount)
    || int2send(p_kind) || convert_to(p_ref_type || ' ' || p_ref_id, 'UTF8') || p_lot);
begin
  insert into ledger.entry (book_id, seq, amount, balance_after, created_at, kind, ref_type, ref_id)
  values (p_book.book_id, p_book.seq + 1, p_amount, v_before + p_amount, v_at, p_kind, p_ref_type, p_ref_id);
  insert into ledger.block (book_id, block_no, first_seq, entries, meters, created_at, hash)
  values (p_book.book_id, p_book.block_no + 1, p_book.seq + 1, 1, 0, v_at, v_hash);
  update ledger.book set available = available + p_amount, granted = granted + p_granted, seq = seq + 1,
    block_no = block_no + 1, head = v_hash, last_at = v_at, current_lot_no = v_lot
  where book_id = p_book.book_id;
  if p_book.low_mark > v_before + p_amount and p_book.low_mark <= v_before then
    perform ledger.tell_low(p_book.book_id, v_before + p_amount, p_book.low_mark, p_now);
  end if;
  return p_book.seq + 1;
end $$;

create function ledger.credit(
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
  insert into ledger.lot (lot_id, book_id, seq, is_grant, expires_at, created_at, amount)
  values (p_lot_id, p_book, v.seq + 1, p_grant, p_expires, greatest(v.last_at, p_now), p_amount);
  o_seq := ledger.post(v, p_amount, case when p_grant then p_amount else 0 end, p_kind, p_ref_type, p_ref_id,
    timestamptz_send(p_expires) || boolsend(p_grant) || convert_to(p_lot_id, 'UTF8'), p_now);
  o_lot_id := p_lot_id;
  o_replay := false;
end $$;

create function ledger.debit(
  p_book bigint, p_amount bigint, p_kind smallint, p_ref_type text, p_ref_id text, p_lot_id text,
  p_paid_only boolean, p_before timestamptz, p_write_off boolean, p_now timestamptz,
  out o_status text, out o_seq bigint, out o_taken bigint
) language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
-- Takes `p_amount` out of one lot, the paid lots or all, once per (kind, reference). Status: ok, replay,
-- insufficient (nothing was taken). With `p_write_off` it takes what is there and records the rest.
declare
  v ledger.book;
  v_lot bigint;
  v_reach bigint;
begin
  if p_amount <= 0 then raise exception 'a debit is positive' using errcode = '22L03'; end if;
  select * into strict v from ledger.book where book_id = p_book for no key update;
  select e.seq, -e.amount into o_seq, o_taken from ledger.entry e
  where e.book_id = p_book and e.kind = p_kind and e.ref_type = p_ref_type and e.ref_id = p_ref_id and p_kind <> 16;
  if found then o_status := 'replay'; return; end if;
  if p_lot_id is not null then
    select lot_no into strict v_lot from ledger.lot where book_id = p_book and lot_id = p_lot_id;
  end if;
  select least(v.available, coalesce(sum(l.amount - l.burned), 0)::bigint) into v_reach from ledger.lot l
  where l.book_id = p_book and l.is_open and (v_lot is null or l.lot_no = v_lot)
    and not (p_paid_only and l.is_grant) and (p_before is null or l.created_at < p_before);
  if v_reach < p_amount and not p_write_off then
    o_status := 'insufficient'; o_taken := 0; return;
  end if;
  o_taken := least(v_reach, p_amount);
  o_seq := ledger.post(v, -o_taken, -ledger.burn_lots(p_book, v.block_no + 1, o_taken, v_lot, p_paid_only, p_before),
    p_kind, p_ref_type, p_ref_id, '', p_now);
  if o_taken < p_amount then
    insert into ledger.writeoff (book_id, seq, amount) values (p_book, o_seq, p_amount - o_taken);
  end if;
  o_status := 'ok';
end $$;

create function ledger.expire_lot(p_lot bigint, p_now timestamptz)
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
  perform ledger.post(v, -v_amount, -ledger.burn_lots(v.book_id, v.block_no + 1, v_amount, p_lot, false, null),
    16::smallint, 'lot', l.lot_id, '', p_now);
  return v_amount;
end $$;

create function ledger.set_budget(
  p_book bigint, p_kind smallint, p_subject int, p_cap bigint, p_hard boolean, p_alerts smallint[], p_today date,
  p_version bigint
) returns void language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
-- Sets the budget and the window that holds `p_today`. Thresholds above the new share of the cap are armed again.
-- Does nothing once an order of a higher `p_version` has been carried out; null is nobody's order.
declare
  v_start date := case p_kind when 1 then p_today else date_trunc('month', p_today::timestamp)::date end;
  w ledger.win;
begin
  perform from ledger.book where book_id = p_book for no key update;
  if not found then raise exception 'unknown book' using errcode = '22L01'; end if;
  perform from ledger.budget b
  where b.kind = p_kind and b.subject = p_subject and b.book_id = p_book and b.version > p_version;
  if found then return; end if;
  insert into ledger.budget (kind, subject, book_id, cap, hard, alerts, version)
  values (p_kind, p_subject, p_book, p_cap, p_hard, p_alerts, coalesce(p_version, 0))
  on conflict (kind, subject) do update set cap = p_cap, hard = p_hard, alerts = p_alerts,
    version = greatest(budget.version, p_version)
  where budget.book_id = p_book;
  if not found then raise exception 'the subject belongs to another book' using errcode = '22L01'; end if;
  select * into w from ledger.win t where t.kind = p_kind and t.subject = p_subject and t.start = v_start;
  if not found then return; end if;
  w.alerted := least(w.alerted, coalesce(
    (select max(a) from unnest(p_alerts) a where w.spent >= ledger.threshold(p_cap, a)), 0));
  update ledger.win t set cap = p_cap, hard = p_hard, alerted = w.alerted,
    next_alert = ledger.next_alert(p_cap, p_alerts, w.alerted),
    exhausted_at = case when p_hard and p_cap <= t.spent + t.held then t.exhausted_at end
  where t.kind = p_kind and t.subject = p_subject and t.start = v_start;
end $$;

create function ledger.resume(p_kind smallint, p_subject int, p_start date, p_version bigint) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
-- Lifts the hard rule for the rest of one window; false when there is no hard window to lift, or an order of a higher
-- `p_version` has been carried out.
begin
  perform from ledger.book b join ledger.win w using (book_id)
  where w.kind = p_kind and w.subject = p_subject and w.start = p_start for no key update of b;
  update ledger.budget set version = greatest(version, p_version)
  where kind = p_kind and subject = p_subject and (p_version is null or version <= p_version);
  if not found then return false; end if;
  update ledger.win set hard = false, exhausted_at = null
  where kind = p_kind and subject = p_subject and start = p_start and hard;
  return found;
end $$;
