-- compatible_from: 0054
-- Organizations that people made themselves, and those of them that have not paid yet. Whatever was made before counts as neither.
alter table org
  add column self_made boolean not null default false,
  add column awaits_topup boolean not null default false,
  add constraint org_awaits_only_self_made check (self_made or not awaits_topup);

-- Gateways follow the first payment as they follow a plan.
drop trigger org_announces on org;
create trigger org_announces after update of
  status, plan_id, limit_overrides, data_policy, pepper, awaits_topup on org
  for each row execute function announce_grant_change();
