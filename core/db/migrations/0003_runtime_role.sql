-- compatible_from: 0003
-- The role that programs act as. It reads and writes tables that carry no money; of the ledger it reads, and writes
-- through functions alone.

-- Roles are of the cluster, so several databases may race to create this one.
do $$
begin
  if not exists (select from pg_roles where rolname = 'svc_runtime') then
    create role svc_runtime nologin;
  end if;
exception when duplicate_object or unique_violation then null;
end $$;
do $$
begin
  if not pg_has_role(current_user, 'svc_runtime', 'member') then
    execute format('grant svc_runtime to %I', current_user);
  end if;
exception when unique_violation then null;
end $$;

grant usage on schema public to svc_runtime;
grant select, insert, update, delete on all tables in schema public to svc_runtime;
-- Tables of later migrations; one that holds history revokes for itself.
alter default privileges in schema public grant select, insert, update, delete on tables to svc_runtime;
alter default privileges in schema public grant usage, select on sequences to svc_runtime;
