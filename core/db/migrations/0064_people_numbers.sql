-- compatible_from: 0054
-- Calls that people have made for them without a key (evaluations) count in the ledger under a number of their project.
create table people_key_no (
  project_id text not null references project,
  environment text not null check (environment in ('live', 'test')),
  key_no int not null unique,
  primary key (project_id, environment)
);
