-- compatible_from: 0054
-- A customer of a reseller that pays no more than the catalog says is a customer all the same: what we add to a price is not for it to see.
-- org_tier_bps says 0 of it as of an organization that is nobody's customer; programs of earlier releases go on asking that.

-- What an organization pays above catalog prices as its reseller's customer; null: it is nobody's. A definer's function, because a
-- child may see no row of its reseller.
create function reseller_bps(text) returns int language sql stable security definer
set search_path = public, pg_temp as $$
  select coalesce(tier.markup_bps, 0) from org left join reseller_tier tier on tier.id = org.reseller_tier_id
   where org.id = $1 and org.parent_org_id is not null
$$;
revoke execute on function reseller_bps(text) from public;
grant execute on function reseller_bps(text) to svc_runtime;

-- Whose customer it is changes what its keys are shown, with a tier or without.
drop trigger org_announces on org;
create trigger org_announces after update of
  status, plan_id, limit_overrides, data_policy, pepper, awaits_topup, reseller_tier_id, parent_org_id on org
  for each row execute function announce_grant_change();
