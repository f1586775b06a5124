-- compatible_from: 0011
-- Credit that was given ends before its time when its organization is closed.

create function ledger.end_grants(p_book bigint, p_now timestamptz) returns bigint
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
-- Books the expiry of what is left of the granted lots of a book and not needed by holds; returns the amount, 0 when
-- nothing moved. Called again it takes what holds have given back since.
declare
  v ledger.book;
  v_lots bigint[];
  v_lot bigint;
  l ledger.lot;
  v_amount bigint;
  v_moved bigint := 0;
begin
  perform from ledger.book where book_id = p_book for no key update;
  select coalesce(array_agg(x.lot_no order by x.seq, x.origin_seq), '{}') into v_lots
  from ledger.lot x where x.book_id = p_book and x.is_open and x.is_grant;
  foreach v_lot in array v_lots loop
    select * into strict v from ledger.book where book_id = p_book;
    select * into strict l from ledger.lot where lot_no = v_lot;
    v_amount := least(l.amount - l.burned, v.available);
    if v_amount = 0 then continue; end if;
    perform ledger.post(v, -v_amount, -ledger.burn_lots(p_book, v.block_no + 1, v_amount, v_lot, false, null, null,
      v.seq + 1), 16::smallint, 'lot', l.lot_id, '', p_now);
    v_moved := v_moved + v_amount;
  end loop;
  return v_moved;
end $$;

revoke all on function ledger.end_grants from public;
grant execute on function ledger.end_grants to svc_runtime;
