-- compatible_from: 0054
-- The audit log is kept for 730 days. Chains are of one organization and one day each, so that whole ones go and the others stay whole.
-- Programs cannot delete from it; this is the one way, and what is younger by the clock of the database it lets nobody delete.
create function drop_audit_days(p_before date, p_chains int) returns bigint
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  own_before date := least(p_before, (now() at time zone 'UTC')::date - 730);
  dropped bigint;
begin
  perform set_config('svc.erases_audit', 'on', true);
  with old as (
    select org_id, day from public.audit_chain where day < own_before
     order by day, org_id limit p_chains for update skip locked),
  entries as (
    delete from public.audit_entry e using old where e.org_id = old.org_id and e.day = old.day returning 1),
  chains as (
    delete from public.audit_chain c using old where c.org_id = old.org_id and c.day = old.day)
  select count(*) into dropped from entries;
  perform set_config('svc.erases_audit', '', true);
  return dropped;
end $$;
revoke all on function drop_audit_days(date, int) from public;
grant execute on function drop_audit_days(date, int) to svc_runtime;
create index audit_chain_by_day on audit_chain (day);
