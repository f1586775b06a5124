-- compatible_from: 0054
-- Sums of the last days of the apps that everybody sees, made with the figures, so that a ranking reads a row for each app and not one for each
-- app, model and day. An older program sums the days.

-- The windows that were summed last. Who looks for one that begins on another day, since midnight has passed, sums the days.
create table ranked_window (
  days int primary key check (days between 1 and 90),
  since date not null
);

create table app_window (
  org_id text not null,
  app_id text not null,
  days int not null references ranked_window,
  -- By model: calls and tokens.
  models jsonb not null,
  primary key (org_id, app_id, days)
);
create index app_window_of_days on app_window (days);
select fence_org('app_window');


insert into erasable_table (name) values ('app_window');
