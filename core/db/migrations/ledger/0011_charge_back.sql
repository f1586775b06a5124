-- compatible_from: 0010
-- The end of a dispute that was lost, in one step: what was held for it goes back, and the chargeback takes the disputed
-- credit with it. In two steps a call between them could spend what was held.

create function ledger.charge_back(
  p_book bigint, p_amount bigint, p_ref_type text, p_ref_id text, p_lot_id text, p_lot_ids text[], p_now timestamptz,
  out o_status text, out o_seq bigint, out o_taken bigint
) language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
-- Once per reference, which is that of the hold. What the lot and the balance do not cover is written off.
-- `p_lot_ids` are as many as the lots that the hold took from. Status: ok, replay.
begin
  perform ledger.restore(p_book, 17::smallint, 18::smallint, p_ref_type, p_ref_id, p_lot_ids, p_now);
  select d.o_status, d.o_seq, d.o_taken into o_status, o_seq, o_taken
  from ledger.debit(p_book, p_amount, 19::smallint, p_ref_type, p_ref_id, p_lot_id, false, null, 'write_off', p_now) d;
end $$;

revoke all on function ledger.charge_back from public;
grant execute on function ledger.charge_back to svc_runtime;
