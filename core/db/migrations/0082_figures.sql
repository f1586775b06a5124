-- compatible_from: 0054
-- What everybody may see of traffic: days of endpoints and apps, apps with who has them, and the figures made of both. An older
-- program makes and shows none.

-- Attempts of live calls at an endpoint by UTC day of the call. Of all organizations together.
create table endpoint_day (
  day date not null,
  endpoint_id text not null,
  attempts bigint not null,
  ok bigint not null,
  -- Spoilt or left by the caller: no fault of the endpoint.
  excused bigint not null,
  ttft_p50_ms double precision,
  ttft_p95_ms double precision,
  tpot_p50_ms double precision,
  -- Attempts by steps of the logarithm of the time, so that days can be put together.
  ttft_counts jsonb not null,
  tpot_counts jsonb not null,
  primary key (endpoint_id, day),
  constraint endpoint_day_adds_up check (ok >= 0 and excused >= 0 and ok + excused <= attempts)
);

-- Live calls that were answered, by UTC day, organization, app ("" is none) and model.
create table app_day (
  day date not null,
  org_id text not null,
  app_id text not null,
  model text not null,
  requests bigint not null,
  tokens bigint not null,
  first_at timestamptz not null,
  primary key (day, org_id, app_id, model)
);
create index app_day_of_app on app_day (org_id, app_id, day);
create index app_day_of_model on app_day (model, day);
select fence_org('app_day');

-- Models by UTC day. The apps and organizations of a day are those that called the model then and not since, so that the sum over
-- the last days counts each once.
create table model_day (
  day date not null,
  model text not null,
  requests bigint not null,
  tokens bigint not null,
  apps int not null,
  orgs int not null,
  primary key (day, model)
);

-- Which days are summed, and when they last were.
create table summed_day (
  day date primary key,
  summed_at timestamptz not null
);

-- An app belongs to the organization that it was first seen at, for as long as that organization is there.
create table app (
  slug text primary key constraint app_slug_is_one check (slug ~ '^[a-z0-9-]{1,64}$'),
  org_id text not null references org (id),
  name text not null check (char_length(name) between 1 and 120),
  category text check (char_length(category) between 1 and 40),
  url text check (url ~ '^https?://' and char_length(url) <= 2048),
  public boolean not null default false,
  first_seen_at timestamptz not null,
  updated_at timestamptz not null
);
create index app_of_org on app (org_id, slug);
select fence_org('app');

-- The figures as they were last published. One row.
create table figures (
  one boolean primary key default true constraint figures_is_one check (one),
  content jsonb,
  refreshed_at timestamptz,
  constraint figures_are_dated check ((content is null) = (refreshed_at is null))
);
insert into figures default values;

-- As before, with the tables of apps.
-- Deletes at most `at_most` rows of a table that belong to an organization under erasure, and of no other. The role of
-- programs may not delete from some of these tables; this is the one way.
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
  if of_table <> all (array[
    'api_key', 'app', 'app_day', 'audit_chain', 'audit_entry', 'auto_topup', 'auto_topup_attempt', 'byok_key', 'canary', 'canary_sample',
    'canary_window', 'checkin', 'credit_notice', 'data_subject_request', 'erasure_tombstone', 'eval_call', 'eval_case',
    'eval_result', 'eval_run', 'eval_suite', 'experiment_bucket', 'experiment_hour', 'experiment_sample', 'idempotency',
    'invitation', 'invite_code_use', 'key_notice', 'limit_request', 'mail', 'org_export', 'outbox', 'people_key_no', 'plan_fee_notice',
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
