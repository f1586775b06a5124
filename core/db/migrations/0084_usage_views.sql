-- compatible_from: 0054
-- Questions about usage that people keep under a name, for themselves or for everybody of the organization.
create table usage_view (
  id text primary key check (id ~ '^uvw_[0-9A-HJKMNP-TV-Z]{26}$'),
  org_id text not null references org (id),
  -- Who made it; no reference, since what is shared stays when its maker leaves.
  created_by text not null,
  -- The member who alone sees it; null: it is shared. A member who leaves takes it along.
  private_to text,
  name text not null,
  -- The query of GET /v1/usage.
  query text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint usage_view_is_private_to_its_maker check (private_to = created_by),
  constraint usage_view_name_is_unique unique (org_id, created_by, name),
  foreign key (org_id, private_to) references org_member (org_id, user_id) on delete cascade
);
select fence_org('usage_view');
insert into erasable_table (name) values ('usage_view');
