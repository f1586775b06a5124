-- compatible_from: 0054
-- What resellers say to their customers for a time.
create table reseller_announcement (
  id text primary key check (id ~ '^ann_[0-9A-HJKMNP-TV-Z]{26}$'),
  -- The reseller.
  org_id text not null references org,
  title text not null check (char_length(title) between 1 and 120),
  body text not null check (char_length(body) between 1 and 10000),
  severity text not null check (severity in ('info', 'warning', 'critical')),
  starts_at timestamptz not null,
  ends_at timestamptz,
  created_by text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint reseller_announcement_ends_after_it_starts check (ends_at > starts_at)
);
create index reseller_announcement_walk on reseller_announcement (org_id, created_at desc, id desc);
select fence_org('reseller_announcement');
insert into erasable_table (name) values ('reseller_announcement');
