-- compatible_from: 0011
-- Starts and signals of workflows, written with the fact that wants one.

create table workflow_start (
  workflow_id text primary key check (char_length(workflow_id) between 1 and 128),
  type text not null,
  args jsonb not null,
  created_at timestamptz not null,
  -- When Temporal took it; null: still to be started.
  started_at timestamptz
);
create index workflow_start_waiting on workflow_start (created_at) where started_at is null;

create table workflow_signal (
  signal_id bigint generated always as identity primary key,
  workflow_id text not null references workflow_start,
  name text not null,
  args jsonb not null,
  created_at timestamptz not null,
  sent_at timestamptz
);
create index workflow_signal_waiting on workflow_signal (signal_id) where sent_at is null;

create function announce_workflow() returns trigger language plpgsql as $$
begin
  perform pg_notify('svc_workflow', '');
  return null;
end $$;
create trigger workflow_start_announces after insert on workflow_start
  for each statement execute function announce_workflow();
create trigger workflow_signal_announces after insert on workflow_signal
  for each statement execute function announce_workflow();
