-- compatible_from: 0019
-- What staff say to customers for a time. One that was ended early has its end moved; none is deleted.
create table announcement (
  id text primary key check (id ~ '^ann_[0-9A-HJKMNP-TV-Z]{26}$'),
  title text not null check (char_length(title) between 1 and 120),
  body text not null check (char_length(body) between 1 and 10000),
  severity text not null check (severity in ('info', 'warning', 'critical')),
  audience text not null check (audience in ('all', 'plans', 'countries', 'resellers', 'orgs')),
  -- Plans, countries or ids of organizations; empty for the others.
  audience_values text[] not null default '{}',
  starts_at timestamptz not null,
  ends_at timestamptz,
  -- Who of staff.
  created_by text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint announcement_ends_after_it_starts check (ends_at >= starts_at),
  constraint announcement_values_where_asked
    check ((audience in ('all', 'resellers')) = (cardinality(audience_values) = 0))
);
create index announcement_walk on announcement (created_at desc, id desc);
create index announcement_running on announcement (ends_at, starts_at);

revoke delete, truncate on announcement from svc_runtime;
