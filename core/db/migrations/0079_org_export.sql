-- compatible_from: 0054
-- Exports of whole organizations. The file itself is nowhere: it is made of what is there when it is downloaded.
create table org_export (
  id text primary key check (id ~ '^oex_[0-9A-HJKMNP-TV-Z]{26}$'),
  org_id text not null references org (id),
  created_by text not null,
  created_at timestamptz not null,
  expires_at timestamptz not null check (expires_at > created_at),
  downloads int not null default 0 check (downloads >= 0),
  last_downloaded_at timestamptz,
  constraint org_export_downloaded check ((downloads = 0) = (last_downloaded_at is null))
);
create index org_export_walk on org_export (org_id, created_at desc, id desc);
select fence_org('org_export');

-- The tables whose rows an erasure deletes: a new one names itself here, in the migration that makes it.
create table erasable_table (name text primary key);
revoke insert, update, delete on erasable_table from svc_runtime;
insert into erasable_table (name) values
  ('api_key'), ('audit_chain'), ('audit_entry'), ('auto_topup'), ('auto_topup_attempt'), ('byok_key'),
  ('canary'), ('canary_sample'), ('canary_window'), ('checkin'), ('credit_notice'), ('data_subject_request'),
  ('erasure_tombstone'), ('eval_call'), ('eval_case'), ('eval_result'), ('eval_run'), ('eval_suite'),
  ('experiment_bucket'), ('experiment_hour'), ('experiment_sample'), ('idempotency'), ('invitation'),
  ('invite_code_use'), ('key_notice'), ('limit_request'), ('mail'), ('org_export'), ('outbox'),
  ('people_key_no'), ('plan_fee_notice'), ('policy'), ('policy_activation'), ('policy_canary_halt'),
  ('policy_shadow_allowance'), ('policy_shadow_day'), ('policy_shadow_expense'), ('policy_version'),
  ('project'), ('sandbox_refill'), ('scim_group'), ('scim_group_member'), ('scim_log'), ('scim_token'),
  ('scim_user'), ('session'), ('shadow_hour'), ('shadow_sample'), ('sso_alias'), ('sso_assertion'),
  ('sso_connection'), ('sso_domain'), ('sso_domain_proof'), ('sso_flow'), ('sso_signing_key'),
  ('staff_item'), ('staff_look'), ('ticket'), ('ticket_message'), ('topup_quote'), ('webhook'),
  ('webhook_delivery'), ('webhook_event');

-- As in 0075, by that table.
create or replace function erase_org_rows(of_table text, of_org text, at_most int) returns bigint
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  own text := case of_table
    when 'key_notice' then 'key_id in (select id from public.api_key where org_id = $1)'
    when 'people_key_no' then 'project_id in (select id from public.project where org_id = $1)'
    when 'eval_case' then 'suite_id in (select id from public.eval_suite where org_id = $1)'
    when 'eval_call' then 'run_id in (select id from public.eval_run where org_id = $1)'
    when 'eval_result' then 'run_id in (select id from public.eval_run where org_id = $1)'
    when 'staff_item' then $own$details ->> 'org_id' = $1$own$
    when 'session' then '(org_id = $1 or sso_org_id = $1)'
    else 'org_id = $1' end;
  erased bigint;
begin
  if not exists (select from org_erasure where org_id = of_org and status = 'running') then
    raise exception 'organization % is not being erased', of_org;
  end if;
  if not exists (select from public.erasable_table where name = of_table) then
    raise exception 'rows of % are not erased this way', of_table;
  end if;
  if of_table = 'audit_entry' then
    perform set_config('svc.erases_audit', 'on', true);
  end if;
  execute format('delete from public.%I where ctid = any (array(select ctid from public.%I where %s limit $2))',
                 of_table, of_table, own) using of_org, at_most;
  get diagnostics erased = row_count;
  if of_table = 'audit_entry' then
    perform set_config('svc.erases_audit', '', true);
  end if;
  return erased;
end $$;
