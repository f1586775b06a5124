-- compatible_from: 0002
-- Facts for webhooks and mails, written with the fact itself; those of a ledger stand in its own schema.
create table outbox (
  outbox_id bigint generated always as identity primary key,
  org_id text not null,
  topic text not null,
  payload jsonb not null,
  created_at timestamptz not null
);
