-- compatible_from: 0019
-- Days whose charges were compared with the request rows of their calls.
create table reconciliation_run (
  day date primary key,
  organizations int not null,
  -- Days on which an organization's ledger and rows differed; each is a staff item.
  variances int not null,
  ended_at timestamptz not null
);
