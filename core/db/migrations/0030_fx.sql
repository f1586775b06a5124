-- compatible_from: 0019
-- Exchange rates that were fetched: a day of a source whole, or no row.
create table fx_day (
  source text not null check (source in ('ecb', 'json')),
  fx_day date not null,
  -- Units of each currency per US dollar, times 1e8.
  rates jsonb not null,
  -- A day on which a rate jumped waits for a person.
  state text not null check (state in ('in_force', 'waiting')),
  fetched_at timestamptz not null,
  decided_at timestamptz,
  constraint fx_day_once primary key (source, fx_day)
);

-- When a source was last asked, and with what success.
create table fx_fetch (
  source text primary key check (source in ('ecb', 'json')),
  -- The time of the schedule that was answered last; null before the first answer.
  slot_at timestamptz,
  tried_at timestamptz not null,
  error text
);
