-- compatible_from: 0054
-- Erasing an organization: asked for by an owner, due after a notice, then table by table.
alter table org add column erasure_requested_at timestamptz, add column erasure_due_at timestamptz,
  add constraint org_erasure_has_both_times check ((erasure_requested_at is null) = (erasure_due_at is null));

create table org_erasure (
  org_id text primary key references org (id),
  status text not null check (status in ('asked', 'cancelled', 'closing', 'running', 'completed')),
  -- Unused credit that was paid for goes back at the closing that comes first.
  refund_requested boolean not null,
  requested_at timestamptz not null,
  due_at timestamptz not null,
  began_at timestamptz,
  -- How many steps are behind it: whoever takes over goes on there.
  step int not null default 0 check (step >= 0),
  -- Rows erased by table, counted in the transaction that erases them.
  erased jsonb not null default '{}',
  -- Rows that the law keeps by table, and the digest over both; with the receipt.
  kept jsonb,
  digest text check (digest ~ '^[0-9a-f]{64}$'),
  completed_at timestamptz,
  constraint org_erasure_receipt check (
    (status = 'completed') = (completed_at is not null) and (status = 'completed') = (digest is not null)
    and (status = 'completed') = (kept is not null)),
  constraint org_erasure_began check ((status in ('closing', 'running', 'completed')) = (began_at is not null))
);
create index org_erasure_due on org_erasure (due_at) where status in ('asked', 'closing', 'running');
select fence_org('org_erasure');

-- The audit log is append only. Two exceptions, which functions of the owner below make: the whole log of an erased
-- organization goes with it, and entries elsewhere lose what names its people.
create or replace function refuse_audit_change() returns trigger language plpgsql as $$
begin
  if tg_op in ('DELETE', 'UPDATE') and current_setting('svc.erases_audit', true) = 'on'
     and current_user = (select tableowner from pg_tables where schemaname = 'public' and tablename = 'audit_entry')
  then
    return null;
  end if;
  raise exception 'the audit log is append only';
end $$;

-- An entry whose names were taken out keeps its hash, so that the chain goes on; this one covers what is left of it.
alter table audit_entry add column redacted_hash bytea check (octet_length(redacted_hash) = 32);

-- Takes out of entries what names people of an organization under erasure: of each only who acted (`actors`), and of all
-- what they were about. `hashes` cover what stays.
create function redact_audit_entries(of_org text, entries bigint[], actors boolean[], hashes bytea[]) returns bigint
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  redacted bigint;
begin
  if not exists (select from org_erasure where org_id = of_org and status = 'running') then
    raise exception 'organization % is not being erased', of_org;
  end if;
  perform set_config('svc.erases_audit', 'on', true);
  update audit_entry e
     set actor_display = case when r.actor then 'erased' else e.actor_display end,
         ip_prefix = case when r.actor then null else e.ip_prefix end,
         user_agent = case when r.actor then null else e.user_agent end,
         target_display = null, before = null, after = null, reason = null, redacted_hash = r.hash
    from unnest(entries, actors, hashes) as r (id, actor, hash)
   where e.id = r.id and e.org_id <> of_org;
  get diagnostics redacted = row_count;
  perform set_config('svc.erases_audit', '', true);
  return redacted;
end $$;
revoke all on function redact_audit_entries(text, bigint[], boolean[], bytea[]) from public;
grant execute on function redact_audit_entries(text, bigint[], boolean[], bytea[]) to svc_runtime;

-- Deletes at most `at_most` rows of a table that belong to an organization under erasure, and of no other. The role of
-- programs may not delete from some of these tables; this is the one way.
create function erase_org_rows(of_table text, of_org text, at_most int) returns bigint
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
  if of_table <> all (array[
    'api_key', 'audit_chain', 'audit_entry', 'auto_topup', 'auto_topup_attempt', 'byok_key', 'canary', 'canary_sample',
    'canary_window', 'checkin', 'credit_notice', 'data_subject_request', 'erasure_tombstone', 'eval_call', 'eval_case',
    'eval_result', 'eval_run', 'eval_suite', 'experiment_bucket', 'experiment_hour', 'experiment_sample', 'idempotency',
    'invitation', 'invite_code_use', 'key_notice', 'limit_request', 'mail', 'outbox', 'people_key_no', 'plan_fee_notice',
    'policy', 'policy_activation', 'policy_canary_halt', 'policy_shadow_allowance', 'policy_shadow_day',
    'policy_shadow_expense', 'policy_version', 'project', 'sandbox_refill', 'scim_group',
    'scim_group_member', 'scim_log', 'scim_token', 'scim_user', 'session', 'shadow_hour',
    'shadow_sample', 'sso_alias', 'sso_assertion',
    'sso_connection', 'sso_domain', 'sso_domain_proof', 'sso_flow', 'sso_signing_key', 'staff_item', 'staff_look',
    'ticket', 'ticket_message', 'topup_quote', 'webhook', 'webhook_delivery', 'webhook_event']) then
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
revoke all on function erase_org_rows(text, text, int) from public;
grant execute on function erase_org_rows(text, text, int) to svc_runtime;
