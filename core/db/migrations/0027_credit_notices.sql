-- compatible_from: 0019
-- Notices that credit will end: each is given once.
create table credit_notice (
  org_id text not null references org,
  -- UTC day on which the credit ends.
  day date not null,
  -- How long before it.
  days int not null check (days > 0),
  created_at timestamptz not null,
  constraint credit_notice_once primary key (org_id, day, days)
);
