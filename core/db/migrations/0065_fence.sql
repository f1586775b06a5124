-- compatible_from: 0054
-- Row-level security, the second fence between organizations: what a caller of an organization does runs as `svc_tenant`
-- with `svc.org_id` set, and sees and writes the rows of that organization alone, even by a statement that forgets to
-- name it. The first fence is that every statement names it.

do $$
begin
  if not exists (select from pg_roles where rolname = 'svc_tenant') then
    create role svc_tenant nologin;
  end if;
exception when duplicate_object or unique_violation then null;
end $$;
-- It may do what programs may, and whoever may act as they do may act as it. Roles are of the cluster, so several
-- databases may race to say so.
do $$
declare
  program record;
begin
  if not pg_has_role('svc_tenant', 'svc_runtime', 'member') then
    grant svc_runtime to svc_tenant;
  end if;
  for program in
    select member::regrole as name from pg_auth_members where roleid = 'svc_runtime'::regrole
    union select current_user::regrole
  loop
    if not pg_has_role(program.name, 'svc_tenant', 'member') then
      execute format('grant svc_tenant to %s', program.name);
    end if;
  end loop;
exception when unique_violation or internal_error then null;
end $$;

-- Fences `fenced` by the column that holds the organization of a row. With `or_none` rows of nobody are outside.
create function fence_org(fenced regclass, org_column name default 'org_id', or_none boolean default false)
returns void language plpgsql as $$
declare
  own text := format('%I = current_setting(''svc.org_id'', true)', org_column);
begin
  if or_none then
    own := format('(%s or %I is null)', own, org_column);
  end if;
  execute format('alter table %s enable row level security', fenced);
  execute format('create policy everybody on %s for all using (true) with check (true)', fenced);
  execute format('create policy own_org on %s as restrictive for all to svc_tenant using (%s) with check (%s)',
    fenced, own, own);
end $$;
revoke execute on function fence_org(regclass, name, boolean) from public;

select fence_org('org', 'id');
select fence_org('mail', or_none => true);
select fence_org(name::regclass) from unnest(array[
  'api_key', 'audit_chain', 'audit_entry', 'auto_topup', 'auto_topup_attempt', 'byok_change', 'byok_key',
  'canary', 'canary_sample', 'canary_window', 'checkin', 'credit_notice', 'data_subject_request',
  'dispute', 'erasure_tombstone', 'eval_run', 'eval_suite', 'experiment_bucket', 'experiment_hour',
  'experiment_sample', 'gift', 'grant_change', 'idempotency', 'invitation', 'invite_code_use', 'invoice',
  'legal_acceptance', 'limit_request', 'mandate', 'org_closing', 'org_member', 'outbox', 'plan_charge',
  'plan_fee_notice', 'policy', 'policy_activation', 'policy_canary_halt', 'policy_change',
  'policy_version', 'project', 'redemption', 'refund', 'request_payload', 'request_row', 'sandbox_refill',
  'scim_group', 'scim_group_member', 'scim_log', 'scim_token', 'scim_user', 'sso_alias', 'sso_assertion',
  'sso_connection', 'sso_domain', 'sso_domain_proof', 'sso_flow', 'sso_signing_key', 'staff_look',
  'ticket', 'ticket_message', 'topup', 'topup_quote', 'usage_hour', 'webhook', 'webhook_delivery',
  'webhook_event'
]) as name;
