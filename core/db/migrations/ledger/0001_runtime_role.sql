-- compatible_from: 0001
-- The role that programs act as. A ledger may be alone in its database, so it makes the role where nothing else has.

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
