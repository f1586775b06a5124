-- Events of rails that named no payment of ours are forgotten after a while; what names one stays with the books, and
-- programs cannot delete it.
create index rail_event_of_nobody on rail_event (received_at) where topup_id is null and payment_ref is null;

create function purge_rail_events(p_before timestamptz) returns int
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_deleted int;
begin
  delete from public.rail_event where received_at < p_before and topup_id is null and payment_ref is null;
  get diagnostics v_deleted = row_count;
  return v_deleted;
end $$;
revoke execute on function purge_rail_events(timestamptz) from public;
grant execute on function purge_rail_events(timestamptz) to svc_runtime;
