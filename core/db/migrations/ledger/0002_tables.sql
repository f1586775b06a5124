-- compatible_from: 0002
-- The ledger: books, lots, holds, entries, metering, blocks, budget windows, idempotency claims, and the
-- functions that are the only writers of them. core/ledger/README.md states the invariants (L1 ...) by number.
--
-- Locks: the book row is the only lock (`for no key update`), taken in book_id order as the first statement of
-- every writer; windows, lots, holds and claims belong to one book and are touched under its lock alone.
-- Decisions of a batch are made in order in one PL/pgSQL loop over arrays, then written by one statement per
-- table. There is no second path for single items: one implementation of money.
-- Times arrive as parameters; only leases use the database's clock.
--
-- A ledger is a schema of its own and may be one of several: `ledger.` stands here and in every statement for its name,
-- which the runner puts in its place. Nothing outside the schema is named.

create table ledger.entry_kind (
  kind smallint primary key,
  name text not null unique
);
insert into ledger.entry_kind (kind, name) values
  (1, 'settle'), (2, 'topup'), (3, 'refund'), (4, 'refund_reversal'), (5, 'grant'), (6, 'redeem'), (7, 'gift'),
  (8, 'gift_cancel'), (9, 'gift_redeem'), (10, 'checkin'), (11, 'allocation_out'), (12, 'allocation_in'),
  (13, 'allocation_reclaim'), (14, 'plan_fee'), (15, 'plan_credit'), (16, 'expire'), (17, 'dispute_hold'),
  (18, 'dispute_release'), (19, 'chargeback'), (20, 'accrual'), (21, 'adjustment');

-- Units that few calls have (searches, sound, pictures, a number of requests other than one, an insured answer).
create table ledger.unit_kind (
  kind smallint primary key,
  name text not null unique
);
insert into ledger.unit_kind (kind, name) values
  (1, 'search_units'), (2, 'audio_input_tokens'), (3, 'audio_output_tokens'), (4, 'image_input_tokens'),
  (5, 'image_output_tokens'), (6, 'requests'), (7, 'insured');

-- Fill factors leave room on the page for HOT updates: with many books per page a full page ends them.
create table ledger.book (
  -- Chosen by the installation, over all its ledgers: it is in the organisation's row before the book is here.
  book_id bigint primary key,
  org_id text not null,
  environment smallint not null constraint environment_is_live_or_test check (environment in (1, 2)),
  available bigint not null default 0 constraint available_never_negative check (available >= 0),
  held bigint not null default 0 constraint held_never_negative check (held >= 0),
  -- Unburned part of the granted lots.
  granted bigint not null default 0
    constraint granted_is_part_of_the_balance check (granted >= 0 and granted <= available + held),
  seq bigint not null default 0,
  block_no bigint not null default 0,
  head bytea not null default decode(repeat('00', 32), 'hex'),
  -- `created_at` of the last block; the next one is never earlier.
  last_at timestamptz not null default '-infinity',
  -- The open lot that burns first; null when none is open.
  current_lot_no bigint,
  -- `credits.low` fires when available + held falls below it; null: off.
  low_mark bigint,
  -- UTC day of the last `credits.exhausted`.
  exhausted_on date,
  constraint one_book_per_org_and_environment unique (org_id, environment)
) with (fillfactor = 10, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_scale_factor = 0);

create table ledger.lot (
  lot_no bigint generated always as identity primary key,
  lot_id text not null unique,
  book_id bigint not null references ledger.book,
  -- The entry that brought it.
  seq bigint not null,
  is_grant boolean not null,
  expires_at timestamptz not null default 'infinity',
  created_at timestamptz not null,
  amount bigint not null constraint lot_amount_positive check (amount > 0),
  burned bigint not null default 0 constraint burned_within_lot check (burned between 0 and amount),
  -- Not the predicate `burned < amount`: an index predicate on a column that changes would end HOT updates.
  is_open boolean not null default true,
  constraint lot_is_open_iff_something_is_left check (is_open = (burned < amount)),
  constraint one_lot_per_entry unique (book_id, seq)
) with (fillfactor = 20, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_scale_factor = 0);
create index lot_burn_order on ledger.lot (book_id, expires_at, is_grant desc, seq) where is_open;
create index lot_expiring on ledger.lot (expires_at) where is_open and expires_at < 'infinity';

-- Micro-USD from_micro (inclusive) to to_micro (exclusive) of a lot, consumed by the entries of a block.
create table ledger.burn (
  lot_no bigint not null,
  from_micro bigint not null constraint burn_starts_within_lot check (from_micro >= 0),
  to_micro bigint not null,
  book_id bigint not null,
  block_no bigint not null,
  constraint burn_range_not_empty check (to_micro > from_micro),
  constraint burn_starts_once_per_place primary key (lot_no, from_micro)
);

-- One row for every key (kind 1, budget per UTC day) and project (kind 2, budget per UTC month).
create table ledger.budget (
  kind smallint not null constraint budget_is_of_key_or_project check (kind in (1, 2)),
  subject int not null,
  book_id bigint not null references ledger.book,
  cap bigint constraint cap_never_negative check (cap >= 0),
  hard boolean not null default true,
  alerts smallint[] not null default '{50,80,100}',
  -- Number of the order that last changed it: an earlier one that comes late changes nothing.
  version bigint not null default 0,
  constraint one_budget_per_subject primary key (kind, subject)
);

create table ledger.win (
  kind smallint not null,
  subject int not null,
  start date not null,
  book_id bigint not null,
  cap bigint,
  hard boolean not null,
  -- Highest percentage already reported, and the spend at which the next event is due.
  alerted smallint not null default 0,
  next_alert bigint,
  exhausted_at timestamptz,
  spent bigint not null default 0 constraint window_spent_never_negative check (spent >= 0),
  held bigint not null default 0 constraint window_held_never_negative check (held >= 0),
  constraint one_window_per_subject_and_start primary key (kind, subject, start)
) with (fillfactor = 10, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_scale_factor = 0);
create index win_by_book on ledger.win (book_id);

create table ledger.lease (
  lease_id bigint generated always as identity primary key,
  process text not null,
  seconds int not null constraint lease_has_a_length check (seconds > 0),
  expires_at timestamptz not null
) with (fillfactor = 10);

create table ledger.hold (
  hold_id uuid primary key, -- the request id
  book_id bigint not null,
  amount bigint not null constraint hold_never_negative check (amount >= 0),
  key_no int not null,
  project_no int not null,
  lease_id bigint not null
) with (fillfactor = 95, autovacuum_vacuum_threshold = 50000, autovacuum_vacuum_scale_factor = 0,
        autovacuum_vacuum_cost_delay = 0);

create table ledger.entry (
  book_id bigint not null,
  seq bigint not null,
  amount bigint not null,
  balance_after bigint not null constraint balance_never_negative check (balance_after >= 0),
  created_at timestamptz not null,
  request_id uuid,
  kind smallint not null constraint entry_kind_is_known check (kind between 1 and 21),
  ref_type text,
  ref_id text,
  constraint one_entry_per_seq primary key (book_id, seq),
  constraint request_id_iff_settle check ((request_id is not null) = (kind = 1)),
  constraint reference_iff_not_settle check ((ref_type is not null and ref_id is not null) = (kind <> 1)),
  constraint settle_never_adds check (kind <> 1 or amount <= 0),
  -- Zero: everything was written off (a settle, refund, dispute or chargeback of an empty balance).
  constraint amount_zero_only_where_written_off check (amount <> 0 or kind in (1, 3, 17, 19))
);
-- A credit or debit happens once; only an expiry may come again for the same lot.
create unique index entry_moves_once_per_reference on ledger.entry (book_id, kind, ref_type, ref_id)
  where ref_id is not null and kind <> 16;
create index entry_other_than_settle on ledger.entry (book_id, seq) where kind <> 1;

create function ledger.units_are_known(p_units int[]) returns boolean language plpgsql immutable as $$
-- Pairs of kind and count, kinds known and ascending, counts not negative. Having none is null, never an empty array.
-- Not in SQL: of such a function the planner looks into the body at every insert, whether it is called or not.
declare
  v_last int := 0;
begin
  if array_ndims(p_units) is distinct from 1 or cardinality(p_units) % 2 <> 0 then return false; end if;
  for i in 1..cardinality(p_units) by 2 loop
    if (p_units[i] between v_last + 1 and 7 and p_units[i + 1] >= 0) is not true then return false; end if;
    v_last := p_units[i];
  end loop;
  return true;
end $$;

-- Partitioned by month: the month lies in the request id, so its uniqueness holds over all partitions.
create table ledger.meter (
  request_id uuid not null,
  book_id bigint not null,
  block_no bigint not null,
  seq bigint, -- null: cost 0, no entry
  cost bigint not null,
  key_no int not null,
  project_no int not null,
  model_no int not null,
  endpoint_no int not null,
  price_no int not null,
  input_tokens int not null,
  output_tokens int not null,
  cache_read_tokens int not null,
  cache_write_tokens int not null,
  cache_write_5m_tokens int not null,
  cache_write_1h_tokens int not null,
  reasoning_tokens int not null,
  outcome smallint not null constraint outcome_is_known check (outcome between 0 and 2),
  estimated boolean not null,
  -- Pairs of kind and count, kinds ascending; null: none.
  other_units int[],
  constraint request_is_metered_once primary key (request_id),
  constraint entry_iff_it_cost_something check ((seq is not null) = (cost > 0)),
  constraint metered_cost_never_negative check (cost >= 0),
  constraint other_units_are_known check (other_units is null or ledger.units_are_known(other_units))
) partition by range (request_id);
create table ledger.meter_default partition of ledger.meter default;

create table ledger.block (
  book_id bigint not null,
  block_no bigint not null,
  first_seq bigint not null,
  entries int not null,
  meters int not null,
  created_at timestamptz not null,
  hash bytea not null,
  constraint one_block_per_number primary key (book_id, block_no),
  constraint block_is_not_empty check (entries >= 0 and meters >= 0 and entries + meters > 0)
);

-- What a settle, refund or dispute could not take because it was not there; moves no balance.
create table ledger.writeoff (
  book_id bigint not null,
  seq bigint not null,
  amount bigint not null constraint writeoff_positive check (amount > 0),
  request_id uuid unique,
  constraint one_writeoff_per_entry primary key (book_id, seq)
);

-- Claims of idempotency keys: claimed in the hold's transaction, closed in the settle's, freed with the release.
create table ledger.idempotency (
  scope text not null,
  key_hash bytea not null,
  fingerprint bytea not null,
  request_id uuid not null unique,
  book_id bigint not null,
  lease_id bigint not null,
  state text not null default 'running' constraint claim_state_is_known check (state in ('running', 'done')),
  created_at timestamptz not null,
  ended_at timestamptz,
  cost bigint,
  http_status smallint,
  sealed_answer bytea,
  constraint one_claim_per_key primary key (scope, key_hash),
  constraint claim_ended_iff_done check ((ended_at is not null) = (state = 'done'))
);
create index idempotency_ended on ledger.idempotency (ended_at) where state = 'done';

-- Facts for webhooks and mails, written with what they tell of.
create table ledger.outbox (
  outbox_id bigint generated always as identity primary key,
  org_id text not null,
  topic text not null,
  payload jsonb not null,
  created_at timestamptz not null
);

create function ledger.ulid_day(p_id uuid) returns date language sql immutable as $$
  -- UTC day of a ULID kept as uuid: 48 bits of milliseconds come first.
  select (to_timestamp(('x' || left(replace(p_id::text, '-', ''), 12))::bit(48)::bigint / 1000.0)
          at time zone 'UTC')::date
$$;

create function ledger.month_floor(p_month date) returns uuid language sql immutable as $$
  -- Smallest request id of the month that holds `p_month`.
  select (lpad(to_hex((extract(epoch from date_trunc('month', p_month::timestamp)) * 1000)::bigint), 12, '0')
          || repeat('0', 20))::uuid
$$;

create function ledger.make_meter_partitions(p_first date, p_months int) returns int
language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '100ms' as $$
-- Makes the missing partitions of `p_months` months from `p_first` on; returns how many were made. A month whose
-- rows already lie in the default partition is left there. While something reads the records for long (a verification
-- does), the rest is left to the next run: every settle would queue behind a lock that waits.
declare
  v_month date := date_trunc('month', p_first::timestamp)::date;
  v_made int := 0;
begin
  for i in 1..p_months loop
    if to_regclass(format('ledger.meter_%s', to_char(v_month, 'YYYYMM'))) is null
       and not exists (select from ledger.meter_default where request_id >= ledger.month_floor(v_month)
                       and request_id < ledger.month_floor((v_month + interval '1 month')::date)) then
      begin
        execute format('create table ledger.meter_%s partition of ledger.meter for values from (%L) to (%L)',
          to_char(v_month, 'YYYYMM'), ledger.month_floor(v_month),
          ledger.month_floor((v_month + interval '1 month')::date));
      exception when lock_not_available then return v_made;
      end;
      v_made := v_made + 1;
    end if;
    v_month := (v_month + interval '1 month')::date;
  end loop;
  return v_made;
end $$;
select ledger.make_meter_partitions((now() at time zone 'UTC')::date, 3);
