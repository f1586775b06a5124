-- compatible_from: 0054
-- What a worker saw of the workflows that Temporal has open: ids, times and kinds of failures, never what they are about.
-- An older program neither reads nor writes it.
create table workflow_open (
  workflow_id text primary key check (char_length(workflow_id) between 1 and 128),
  type text not null,
  started_at timestamptz not null
);

-- The last try of a step that failed and has not succeeded since.
create table workflow_failure (
  workflow_id text not null,
  step text not null,
  attempt int not null check (attempt >= 1),
  failure text not null check (char_length(failure) <= 200),
  failed_at timestamptz not null,
  primary key (workflow_id, step)
);

-- When a worker looked last. Whoever claims a look makes it; the others wait for the next.
create table workflow_look (
  only_row boolean primary key default true check (only_row),
  claimed_at timestamptz not null,
  looked_at timestamptz,
  -- False: there were more than a look takes.
  complete boolean not null default true
);
