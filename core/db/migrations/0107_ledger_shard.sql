-- compatible_from: 0106
-- What is known of a shard beside its addresses, which stay in the settings because they hold passwords: in which of its places
-- the ledger is, a move from one to another, whether new organizations come to it, and how many calls it takes.

create table ledger_shard (
  name text primary key,
  -- Null: in the one that has the shard's own name.
  place text,
  -- Whether it takes new organizations, where SVC_LEDGER_SHARDS_OPEN lets it.
  is_open boolean not null default true,
  moving_from text,
  moving_to text,
  -- `copying` until every row of the beginning is there, then `following`; `moved` once the old place has said so.
  step text constraint step_is_known check (step in ('copying', 'following', 'moved')),
  started_at timestamptz,
  moved_at timestamptz,
  constraint move_is_whole check (
    num_nonnulls(moving_from, moving_to, step, started_at) in (0, 4))
);

-- Readings of how many calls a ledger has metered. Each server counts for itself and may begin anew, so only the difference
-- between two readings at one place means something.
create table ledger_load (
  shard text not null,
  read_at timestamptz not null,
  place text not null,
  counted bigint not null,
  -- Since the reading before; 0 where that one was of another place, or the server has begun anew.
  calls bigint not null constraint load_never_negative check (calls >= 0),
  constraint one_reading_per_moment primary key (shard, read_at)
);

grant select, insert, update on ledger_shard to svc_runtime;
grant select, insert, delete on ledger_load to svc_runtime;
