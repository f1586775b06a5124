-- compatible_from: 0009
-- The fee of a plan and the credit that it includes move together or not at all.

create function ledger.charge_plan(
  p_book bigint, p_fee bigint, p_included bigint, p_lot_id text, p_ends timestamptz, p_ref_id text, p_now timestamptz,
  out o_status text, out o_fee_seq bigint, out o_credit_seq bigint
) language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
-- Takes the fee in burn order and brings the included credit, which ends with the period, once per reference. Status:
-- ok, replay, insufficient (nothing moved), over (the period has ended, nothing moved). Credit that has ended, that of
-- the month before above all, is expired first: a fee is not paid with it, whenever the hourly job came by.
declare
  v_lot bigint;
begin
  perform from ledger.book where book_id = p_book for no key update;
  if not found then raise exception 'unknown book' using errcode = '22L01'; end if;
  select e.seq into o_fee_seq from ledger.entry e
  where e.book_id = p_book and e.kind = 14 and e.ref_type = 'plan' and e.ref_id = p_ref_id;
  if found then
    o_status := 'replay';
    select e.seq into o_credit_seq from ledger.entry e
    where e.book_id = p_book and e.kind = 15 and e.ref_type = 'plan' and e.ref_id = p_ref_id;
    return;
  end if;
  if p_ends <= p_now then o_status := 'over'; return; end if;
  for v_lot in
    select l.lot_no from ledger.lot l where l.book_id = p_book and l.is_open and l.expires_at <= p_now
    order by l.seq, l.origin_seq
  loop
    perform ledger.expire_lot(v_lot, p_now);
  end loop;
  select d.o_status, d.o_seq into o_status, o_fee_seq
  from ledger.debit(p_book, p_fee, 14::smallint, 'plan', p_ref_id, null, false, null, 'refuse', p_now) d;
  if o_status <> 'ok' or p_included = 0 then return; end if;
  select c.o_seq into o_credit_seq
  from ledger.credit(p_book, p_lot_id, p_included, true, p_ends, 15::smallint, 'plan', p_ref_id, p_now) c;
end $$;

revoke all on function ledger.charge_plan from public;
grant execute on function ledger.charge_plan to svc_runtime;
