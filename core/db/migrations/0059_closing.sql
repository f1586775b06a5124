-- compatible_from: 0054
-- Organizations that were closed: what was asked for at the closing, and whether all that follows from it has been done.
create table org_closing (
  org_id text primary key references org (id),
  closed_at timestamptz not null,
  -- Unused credit that was paid for goes back.
  refund_requested boolean not null,
  -- Null while steps wait: mandates, sessions, calls under way, refunds, credit that was given.
  ended_at timestamptz
);

-- An endpoint of a closed organization is told of the closing and of nothing else.
alter table webhook drop constraint webhook_disabled_reason_check,
  add constraint webhook_disabled_reason_check check (disabled_reason in ('manual', 'gone', 'failing', 'org_closed'));
