-- compatible_from: 0001
-- Values that staff change while programs run (business settings, the development clock).
create table settings (
  name text primary key,
  value jsonb not null,
  updated_at timestamptz not null
);
