-- compatible_from: 0054
-- Resellers: organizations whose children are customers of theirs, and what members of a reseller may do besides their role.

alter table org
  add constraint org_has_a_parent_iff_child check ((kind = 'child') = (parent_org_id is not null)) not valid,
  add constraint org_is_not_its_own_parent check (parent_org_id <> id);
alter table org validate constraint org_has_a_parent_iff_child;
create index org_of_parent on org (parent_org_id, created_at desc, id desc) where parent_org_id is not null;

-- One level only: the parent is a reseller and stays one as long as it has children. A child's insert takes a lock of
-- the parent's row that a change of its kind waits for, so neither can pass the other unseen.
create function org_keeps_one_level() returns trigger language plpgsql as $$
begin
  if new.parent_org_id is not null then
    perform from org where id = new.parent_org_id and kind = 'reseller' for share;
    if not found then
      raise exception 'the parent is no reseller' using errcode = '23514', constraint = 'org_parent_is_a_reseller';
    end if;
  end if;
  if tg_op = 'UPDATE' and old.kind = 'reseller' and new.kind <> 'reseller'
     and exists (select from org where parent_org_id = new.id) then
    raise exception 'the reseller has children' using errcode = '23514', constraint = 'org_with_children_is_a_reseller';
  end if;
  return new;
end $$;
create trigger org_keeps_one_level before insert or update of kind, parent_org_id on org
  for each row execute function org_keeps_one_level();

-- What a member of a reseller may do besides their role; owners and admins may do all. It goes with the membership.
alter table org_member add column grants text[] not null default '{}'
  constraint org_member_grants_are_known check (grants <@ array[
    'reseller.read', 'reseller.write', 'storefront.write', 'reseller.campaigns', 'reseller.support']);

-- What customers of a reseller pay above catalog prices. Its price versions are made when the tier or a price is
-- published, and never change (catalog.price_version); a change of the tier names others.
create table reseller_tier (
  id text primary key check (id ~ '^tier_[0-9A-HJKMNP-TV-Z]{26}$'),
  org_id text not null references org,
  name text not null check (char_length(name) between 1 and 120),
  markup_bps int not null constraint reseller_tier_adds_and_never_takes check (markup_bps between 0 and 10000),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint reseller_tier_name_once unique (org_id, name)
);
create unique index reseller_tier_walk on reseller_tier (org_id, created_at desc, id desc);
select fence_org('reseller_tier');

-- What a reseller decided for all its customers.
create table reseller_terms (
  org_id text primary key references org,
  -- Of customers that are made without one; null: catalog prices.
  default_tier_id text references reseller_tier,
  updated_at timestamptz not null
);
select fence_org('reseller_terms');

alter table org
  add constraint org_tier_is_there foreign key (reseller_tier_id) references reseller_tier,
  add constraint org_with_a_tier_is_a_child check (reseller_tier_id is null or kind = 'child');
create index org_of_tier on org (reseller_tier_id) where reseller_tier_id is not null;

-- What an organization pays above catalog prices. A definer's function, because a child may see no row of its reseller.
create function org_tier_bps(text) returns int language sql stable security definer
set search_path = public, pg_temp as $$
  select coalesce((select tier.markup_bps from org join reseller_tier tier on tier.id = org.reseller_tier_id
                    where org.id = $1), 0)
$$;
revoke execute on function org_tier_bps(text) from public;
grant execute on function org_tier_bps(text) to svc_runtime;

-- Keys in the memory of processes follow a change of the tier within a second: calls held afterwards pay it.
drop trigger org_announces on org;
create trigger org_announces after update of
  status, plan_id, limit_overrides, data_policy, pepper, awaits_topup, reseller_tier_id on org
  for each row execute function announce_grant_change();
create function announce_tier_change() returns trigger language plpgsql security definer
set search_path = public, pg_temp as $$
begin
  insert into grant_change (org_id, key_id) select id, null from org where reseller_tier_id = new.id;
  perform pg_notify('svc_grant', id || ' ') from org where reseller_tier_id = new.id;
  return null;
end $$;
create trigger reseller_tier_announces after update of markup_bps on reseller_tier
  for each row execute function announce_tier_change();

-- Suspended by its reseller, which may lift that, and no suspension of ours.
alter table org add column suspended_by_parent boolean not null default false
  constraint org_suspended_by_parent_is_suspended check (not suspended_by_parent or status = 'suspended');

-- How many customers pay a tier: their rows are of other organizations than the reseller's, which asks.
create function reseller_tier_customers(text) returns int language sql stable security definer
set search_path = public, pg_temp as $$
  select count(*)::int from org where reseller_tier_id = $1
$$;
revoke execute on function reseller_tier_customers(text) from public;
grant execute on function reseller_tier_customers(text) to svc_runtime;

-- Which tier is the default says nothing that outlives the organization; tiers explain what was paid.
insert into erasable_table (name) values ('reseller_terms');
