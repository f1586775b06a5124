-- The ledger: books, lots, holds, entries, metering, blocks, budget windows, idempotency claims, and the
-- functions that are the only writers of them. core/ledger/README.md states the invariants (L1 ...) by number.
--
-- Locks: the book row is the only lock (`for no key update`), taken in book_id order as the first statement of
-- every writer; windows, lots, holds and claims belong to one book and are touched under its lock alone.
-- Decisions of a batch are made in order in one PL/pgSQL loop over arrays, then written by one statement per
-- table. There is no second path for single items: one implementation of money.
-- Times arrive as parameters; only leases use the database's clock.

-- Roles are of the cluster, so several databases may race to create this one.
do $$
begin
  if not exists (select from pg_roles where rolname = 'svc_runtime') then
    create role svc_runtime nologin;
  end if;
exception when duplicate_object or unique_violation then null;
end $$;
do $$
begin
  if not pg_has_role(current_user, 'svc_runtime', 'member') then
    execute format('grant svc_runtime to %I', current_user);
  end if;
exception when unique_violation then null;
end $$;

create schema ledger;

create table ledger.entry_kind (
  kind smallint primary key,
  name text not null unique
);
insert into ledger.entry_kind (kind, name) values
  (1, 'settle'), (2, 'topup'), (3, 'refund'), (4, 'refund_reversal'), (5, 'grant'), (6, 'redeem'), (7, 'gift'),
  (8, 'gift_cancel'), (9, 'gift_redeem'), (10, 'checkin'), (11, 'allocation_out'), (12, 'allocation_in'),
  (13, 'allocation_reclaim'), (14, 'plan_fee'), (15, 'plan_credit'), (16, 'expire'), (17, 'dispute_hold'),
  (18, 'dispute_release'), (19, 'chargeback'), (20, 'accrual'), (21, 'adjustment');

-- Fill factors leave room on the page for HOT updates: with many books per page a full page ends them.
create table ledger.book (
  book_id bigint generated always as identity primary key,
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
  constraint lot_is_open_iff_something_is_left check (is_open = (burned < amount))
) with (fillfactor = 20, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_scale_factor = 0);
create index lot_burn_order on ledger.lot (book_id, expires_at, is_grant desc, lot_no) where is_open;
create index lot_by_book on ledger.lot (book_id, lot_no);
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
  lease_id int generated always as identity primary key,
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
  lease_id int not null
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
  constraint request_is_metered_once primary key (request_id),
  constraint entry_iff_it_cost_something check ((seq is not null) = (cost > 0)),
  constraint metered_cost_never_negative check (cost >= 0)
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

-- Decisions 4.12. Claimed in the hold's transaction, closed in the settle's, freed with the release.
create table ledger.idempotency (
  scope text not null,
  key_hash bytea not null,
  fingerprint bytea not null,
  request_id uuid not null unique,
  book_id bigint not null,
  lease_id int not null,
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

-- Facts for webhooks and mails, written with the fact itself. Consumers add their own tables.
create table outbox (
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
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
-- Makes the missing partitions of `p_months` months from `p_first` on; returns how many were made. A month whose
-- rows already lie in the default partition is left there.
declare
  v_month date := date_trunc('month', p_first::timestamp)::date;
  v_made int := 0;
begin
  for i in 1..p_months loop
    if to_regclass(format('ledger.meter_%s', to_char(v_month, 'YYYYMM'))) is null
       and not exists (select from ledger.meter_default where request_id >= ledger.month_floor(v_month)
                       and request_id < ledger.month_floor((v_month + interval '1 month')::date)) then
      execute format('create table ledger.meter_%s partition of ledger.meter for values from (%L) to (%L)',
        to_char(v_month, 'YYYYMM'), ledger.month_floor(v_month),
        ledger.month_floor((v_month + interval '1 month')::date));
      v_made := v_made + 1;
    end if;
    v_month := (v_month + interval '1 month')::date;
  end loop;
  return v_made;
end $$;
select ledger.make_meter_partitions((now() at time zone 'UTC')::date, 3);

create function ledger.threshold(p_cap bigint, p_percent smallint) returns bigint language sql immutable as $$
  -- Spend that is `p_percent` of `p_cap`, rounded up, at least 1. `greatest` alone would turn "no budget" into 1.
  select case when p_cap is not null and p_percent is not null then greatest(1, (p_cap * p_percent + 99) / 100) end
$$;

create function ledger.next_alert(p_cap bigint, p_alerts smallint[], p_alerted smallint) returns bigint
language sql immutable as $$
  -- Spend at which the next threshold above `p_alerted` percent is reached; null: none is left, or no budget.
  select ledger.threshold(p_cap, min(a)) from unnest(p_alerts) a where a > p_alerted
$$;

create function ledger.win_create(p_books bigint[], p_wkind smallint[], p_wsub int[], p_wstart date[], p_wbix int[])
returns void language sql as $$
  insert into ledger.win (kind, subject, start, book_id, cap, hard, next_alert)
  select b.kind, b.subject, u.start, b.book_id, b.cap, b.hard, ledger.next_alert(b.cap, b.alerts, 0::smallint)
  from unnest(p_wkind, p_wsub, p_wstart, p_wbix) u(kind, sub, start, bix)
  join ledger.budget b on b.kind = u.kind and b.subject = u.sub and b.book_id = p_books[u.bix]
  on conflict do nothing
$$;

create function ledger.budget_payload(w ledger.win) returns jsonb language sql stable as $$
  select jsonb_build_object(
    'scope', case w.kind when 1 then 'key' else 'project' end,
    case w.kind when 1 then 'key_no' else 'project_no' end, w.subject,
    'budget_micro', w.cap, 'spend_micro', w.spent, 'hard', w.hard,
    'window_start', to_char(w.start, 'YYYY-MM-DD"T00:00:00.000Z"'),
    'window_end', to_char(case w.kind when 1 then w.start + interval '1 day' else w.start + interval '1 month' end,
                          'YYYY-MM-DD"T00:00:00.000Z"'))
$$;

create function ledger.exhaust(p_kind smallint, p_subject int, p_start date, p_now timestamptz) returns void
language plpgsql as $$
-- `budget.exhausted`, once per window: the guarded update is what makes it once.
declare
  w ledger.win;
begin
  update ledger.win t set exhausted_at = p_now
  where t.kind = p_kind and t.subject = p_subject and t.start = p_start and t.exhausted_at is null
  returning * into w;
  if found then
    insert into public.outbox (org_id, topic, payload, created_at)
    select b.org_id, 'budget.exhausted',
      ledger.budget_payload(w) || jsonb_build_object('resumes_at', ledger.budget_payload(w) -> 'window_end'), p_now
    from ledger.book b where b.book_id = w.book_id;
  end if;
end $$;

create function ledger.alert(p_kind smallint, p_subject int, p_start date, p_now timestamptz) returns void
language plpgsql as $$
-- One `budget.threshold` per threshold that the spend of the window has reached (P7.4).
declare
  w ledger.win;
  v_alerts smallint[];
  v_percent smallint;
begin
  select * into strict w from ledger.win t where t.kind = p_kind and t.subject = p_subject and t.start = p_start;
  select b.alerts into strict v_alerts from ledger.budget b where b.kind = p_kind and b.subject = p_subject;
  for v_percent in
    select a from unnest(v_alerts) a where a > w.alerted and w.spent >= ledger.threshold(w.cap, a) order by a
  loop
    insert into public.outbox (org_id, topic, payload, created_at)
    select b.org_id, 'budget.threshold',
      ledger.budget_payload(w) || jsonb_build_object('threshold_percent', v_percent), p_now
    from ledger.book b where b.book_id = w.book_id;
    w.alerted := v_percent;
  end loop;
  update ledger.win t set alerted = w.alerted, next_alert = ledger.next_alert(w.cap, v_alerts, w.alerted)
  where t.kind = p_kind and t.subject = p_subject and t.start = p_start;
end $$;

-- ---------------------------------------------------------------------------------------------------- hold
-- p_books: distinct, ascending. p_w*: the distinct windows (p_wbix: place of the book). p_bix, p_kix, p_pix:
-- each item's place among them. p_c*: claims, p_cix the item. Letters of o_status, one per item:
--   o held   c insufficient credits   k budget of the key   p budget of the project   d key claimed already
--   u unknown book, key or project   e refused
-- o_available: of each book afterwards.
create function ledger.hold_run(
  p_books bigint[], p_wkind smallint[], p_wsub int[], p_wstart date[], p_wbix int[],
  p_id uuid[], p_bix int[], p_kix int[], p_pix int[], p_amount bigint[],
  p_cix int[], p_cscope text[], p_chash bytea[], p_cprint bytea[], p_lease int, p_now timestamptz,
  out o_status text, out o_available bigint[]
) language plpgsql as $$
declare
  n int := cardinality(p_id);
  v_room0 bigint[];
  v_room bigint[];
  v_ok boolean[] := array_fill(true, array[n]);
  v_lost int[];
  v_count bigint;
  v_refused boolean := false;
  a bigint; b int; k int; p int;
begin
  select array_agg(x.available) into o_available
  from (select available from ledger.book where book_id = any (p_books) order by book_id for no key update) x;
  if cardinality(o_available) is distinct from cardinality(p_books) then
    raise exception 'unknown book' using errcode = '22L01';
  end if;
  o_status := repeat('o', n);

  if cardinality(p_cix) > 0 then
    delete from ledger.idempotency t using unnest(p_cscope, p_chash) c(scope, hash)
    where t.scope = c.scope and t.key_hash = c.hash and t.state = 'done' and t.ended_at < p_now - interval '24 hours';
    with c as (select * from unnest(p_cix, p_cscope, p_chash, p_cprint) c(i, scope, hash, print)),
    won as (
      insert into ledger.idempotency (scope, key_hash, fingerprint, request_id, book_id, lease_id, created_at)
      select c.scope, c.hash, c.print, p_id[c.i], p_books[p_bix[c.i]], p_lease, p_now from c
      on conflict on constraint one_claim_per_key do nothing returning request_id)
    select array_agg(c.i) into v_lost from c
    where p_id[c.i] not in (select request_id from won)
      -- A repeat after a lost COMMIT finds its own claim, which it keeps.
      and not exists (select from ledger.idempotency x
                      where x.scope = c.scope and x.key_hash = c.hash and x.request_id = p_id[c.i]);
    for i in 1..coalesce(cardinality(v_lost), 0) loop
      v_ok[v_lost[i]] := false;
      o_status := overlay(o_status placing 'd' from v_lost[i] for 1);
    end loop;
  end if;

  for pass in 1..2 loop
    select array_agg(case when w.hard and w.cap is not null then w.cap - w.spent - w.held
                     else 4611686018427387904 end order by u.i), count(w.book_id)
    into v_room0, v_count
    from unnest(p_wkind, p_wsub, p_wstart, p_wbix) with ordinality u(kind, sub, start, bix, i)
    -- LATERAL with LIMIT leaves the planner one choice, an index probe per window.
    left join lateral (select * from ledger.win x where x.kind = u.kind and x.subject = u.sub and x.start = u.start
                       and x.book_id = p_books[u.bix] limit 1) w on true;
    exit when v_count = cardinality(p_wsub);
    if pass = 2 then raise exception 'unknown key or project' using errcode = '22L01'; end if;
    perform ledger.win_create(p_books, p_wkind, p_wsub, p_wstart, p_wbix);
  end loop;

  v_room := v_room0;
  for i in 1..n loop
    a := p_amount[i]; b := p_bix[i]; k := p_kix[i]; p := p_pix[i];
    if v_ok[i] and a <= o_available[b] and a <= v_room[k] and a <= v_room[p] and a >= 0 then
      o_available[b] := o_available[b] - a;
      v_room[k] := v_room[k] - a;
      v_room[p] := v_room[p] - a;
    elsif v_ok[i] then
      v_ok[i] := false;
      v_refused := true;
      o_status := overlay(o_status placing case
        when a is null or a < 0 then 'e' when a > o_available[b] then 'c' when a > v_room[k] then 'k' else 'p'
        end from i for 1);
    end if;
  end loop;

  update ledger.book t set available = u.a, held = t.held + (t.available - u.a)
  from unnest(p_books, o_available) u(id, a) where t.book_id = u.id and t.available <> u.a;
  update ledger.win w set held = w.held + (u.r0 - u.r)
  from unnest(p_wkind, p_wsub, p_wstart, v_room0, v_room) u(kind, sub, start, r0, r)
  where w.kind = u.kind and w.subject = u.sub and w.start = u.start and u.r0 <> u.r;
  insert into ledger.hold (hold_id, book_id, amount, key_no, project_no, lease_id)
  select u.id, p_books[u.b], u.a, p_wsub[u.k], p_wsub[u.p], p_lease
  from unnest(p_id, p_bix, p_kix, p_pix, p_amount, v_ok) u(id, b, k, p, a, ok) where u.ok;
  if v_refused then
    perform ledger.hold_refused(p_books, p_wkind, p_wsub, p_wstart, p_id, p_bix, p_kix, p_pix, p_cix, o_status, p_now);
  end if;
end $$;

create function ledger.hold_refused(
  p_books bigint[], p_wkind smallint[], p_wsub int[], p_wstart date[], p_id uuid[], p_bix int[], p_kix int[],
  p_pix int[], p_cix int[], p_status text, p_now timestamptz
) returns void language plpgsql as $$
-- What follows from refusals: claims are freed, `credits.exhausted` once per UTC day, `budget.exhausted` once.
declare
  r record;
begin
  delete from ledger.idempotency t using unnest(p_cix) c(i)
  where t.request_id = p_id[c.i] and substr(p_status, c.i, 1) in ('c', 'k', 'p', 'e');
  if strpos(p_status, 'c') > 0 then
    with x as (select p_books[u.b] as book_id, max(p_wstart[u.k]) as day
               from unnest(p_bix, p_kix) with ordinality u(b, k, i) where substr(p_status, u.i::int, 1) = 'c' group by 1),
    t as (update ledger.book t set exhausted_on = x.day from x
          where t.book_id = x.book_id and (t.exhausted_on is null or t.exhausted_on < x.day)
          returning t.org_id, t.available, t.low_mark)
    insert into public.outbox (org_id, topic, payload, created_at)
    select t.org_id, 'credits.exhausted',
      jsonb_build_object('available_micro_usd', t.available, 'threshold_micro', coalesce(t.low_mark, 0)), p_now from t;
  end if;
  for r in
    select distinct case substr(p_status, u.i::int, 1) when 'k' then u.k else u.p end as w
    from unnest(p_kix, p_pix) with ordinality u(k, p, i) where substr(p_status, u.i::int, 1) in ('k', 'p')
  loop
    perform ledger.exhaust(p_wkind[r.w], p_wsub[r.w], p_wstart[r.w], p_now);
  end loop;
end $$;

create function ledger.hold(
  p_books bigint[], p_wkind smallint[], p_wsub int[], p_wstart date[], p_wbix int[],
  p_id uuid[], p_bix int[], p_kix int[], p_pix int[], p_amount bigint[],
  p_cix int[], p_cscope text[], p_chash bytea[], p_cprint bytea[], p_lease int, p_now timestamptz,
  out o_status text, out o_available bigint[]
) language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_book bigint;
  v_claim int;
  r record;
  s text;
begin
  -- Fences off a process that was forgotten: its lease has lapsed and its holds would be swept at once.
  perform from ledger.lease where lease_id = p_lease and expires_at > clock_timestamp();
  if not found then raise exception 'the lease has lapsed' using errcode = '55L01'; end if;
  begin
    select x.o_status, x.o_available into o_status, o_available from ledger.hold_run(p_books, p_wkind, p_wsub,
      p_wstart, p_wbix, p_id, p_bix, p_kix, p_pix, p_amount, p_cix, p_cscope, p_chash, p_cprint, p_lease, p_now) x;
    return;
  exception when data_exception or integrity_constraint_violation then null;
  end;
  -- A poisoned item or a repeat: all locks first, in order, then each item in a subtransaction of its own.
  perform from ledger.book where book_id = any (p_books) order by book_id for no key update;
  o_status := '';
  for i in 1..cardinality(p_id) loop
    begin
      select h.book_id into v_book from ledger.hold h where h.hold_id = p_id[i];
      if found then
        s := case when v_book = p_books[p_bix[i]] then 'o' else 'e' end; -- repeat of a hold that stands
      else
        v_claim := array_position(p_cix, i);
        select * into r from ledger.hold_run(p_books[p_bix[i]:p_bix[i]],
          array[p_wkind[p_kix[i]], p_wkind[p_pix[i]]], array[p_wsub[p_kix[i]], p_wsub[p_pix[i]]],
          array[p_wstart[p_kix[i]], p_wstart[p_pix[i]]], array[1, 1], p_id[i:i], array[1], array[1], array[2],
          p_amount[i:i], case when v_claim is null then '{}' else array[1] end, p_cscope[v_claim:v_claim],
          p_chash[v_claim:v_claim], p_cprint[v_claim:v_claim], p_lease, p_now);
        s := r.o_status;
      end if;
    exception
      when data_exception then s := case when sqlstate = '22L01' then 'u' else 'e' end;
      when integrity_constraint_violation then s := 'e';
    end;
    o_status := o_status || coalesce(s, 'e');
  end loop;
  select array_agg(b.available order by u.i) into o_available
  from unnest(p_books) with ordinality u(id, i) left join ledger.book b on b.book_id = u.id;
end $$;

-- -------------------------------------------------------------------------------------------------- settle
-- Items ascend by (book, request id), so that the metering records of a block have an order of their own and a
-- doubled id shows. p_nums: twelve integers per item, in the order of the columns of ledger.meter from model_no to
-- estimated. Letters of o_status: s settled   l settled late, without a hold   d settled before   u unknown
-- book, key or project   e refused. o_charged is null when every charge equals its cost.
create function ledger.settle_run(
  p_books bigint[], p_wkind smallint[], p_wsub int[], p_wstart date[], p_wbix int[],
  p_id uuid[], p_bix int[], p_kix int[], p_pix int[], p_cost bigint[], p_nums int[], p_now timestamptz,
  out o_status text, out o_charged bigint[], out o_available bigint[]
) language plpgsql as $$
declare
  n int := cardinality(p_id);
  m int := cardinality(p_books);
  v_count int; v_alerts int; v_distinct int;
  v_found int[]; v_amount bigint[]; v_hold bigint[]; v_dup int[]; v_keep int[];
  v_held bigint[]; v_granted bigint[]; v_seq bigint[]; v_block bigint[]; v_head bytea[]; v_lot bigint[];
  v_low bigint[]; v_at timestamptz[];
  v_first bigint[]; v_taken bigint[]; v_n int[]; v_lo int[];
  v_charged bigint[]; v_balance bigint[]; v_eseq bigint[]; v_spend bigint[]; v_unheld bigint[];
  v_off boolean := false;
  v_burned int[]; v_burned_grant boolean[];
  v_last uuid;
  r record;
  a bigint; sh bigint; s bigint; t bigint; h bigint; c bigint; b int; cb int := 0; k int; lo int; hi int;
begin
  select array_agg(x.available), array_agg(x.held), array_agg(x.granted), array_agg(x.seq), array_agg(x.block_no),
    array_agg(x.head), array_agg(x.current_lot_no), array_agg(x.low_mark), array_agg(greatest(x.last_at, p_now))
  into o_available, v_held, v_granted, v_seq, v_block, v_head, v_lot, v_low, v_at
  from (select * from ledger.book where book_id = any (p_books) order by book_id for no key update) x;
  if cardinality(o_available) is distinct from m then
    raise exception 'unknown book' using errcode = '22L01';
  end if;

  -- Deleting the hold is what makes a settle happen once; the primary key of the meter is the second lock.
  with f as materialized (
    select u.i, t.amount, t.c from unnest(p_id, p_bix) with ordinality u(id, b, i)
    cross join lateral (select x.amount, x.ctid as c from ledger.hold x
                        where x.hold_id = u.id and x.book_id = p_books[u.b] limit 1) t),
  d as (delete from ledger.hold t where t.ctid = any (array(select f.c from f)))
  select array_agg(f.i order by f.i), array_agg(f.amount order by f.i), count(*), count(distinct f.c)
  into v_found, v_amount, v_count, v_distinct from f;
  if v_distinct <> v_count then raise exception 'an id twice in one batch' using errcode = '22L04'; end if;

  o_status := repeat('s', n);
  if v_count = n then
    v_hold := v_amount;
  else -- some holds are missing: settled before, lost, released or swept
    v_hold := array_fill(null::bigint, array[n]);
    for i in 1..v_count loop v_hold[v_found[i]] := v_amount[i]; end loop;
    for r in
      select u.i::int as i, case when q.is_metered then 'd' when t.is_held then 'e' else 'l' end as letter
      from unnest(p_id, v_hold) with ordinality u(id, h, i)
      left join lateral (select true as is_metered from ledger.meter x where x.request_id = u.id limit 1) q on true
      left join lateral (select true as is_held from ledger.hold x where x.hold_id = u.id limit 1) t on true
      where u.h is null
    loop
      o_status := overlay(o_status placing r.letter from r.i for 1);
      if r.letter = 'l' then v_hold[r.i] := 0; else v_dup := v_dup || r.i; end if;
    end loop;
    if v_dup is not null then -- go on with the others alone
      if cardinality(v_dup) = n then return; end if;
      select array_agg(j), array_agg(p_id[j]), array_agg(p_bix[j]), array_agg(p_kix[j]), array_agg(p_pix[j]),
        array_agg(p_cost[j]), array_agg(v_hold[j])
      into v_keep, p_id, p_bix, p_kix, p_pix, p_cost, v_hold
      from (select j from generate_series(1, n) j where j <> all (v_dup) order by j) x;
      select array_agg(p_nums[(x.j - 1) * 12 + y] order by x.i, y) into p_nums
      from unnest(v_keep) with ordinality x(j, i), generate_series(1, 12) y;
      n := cardinality(p_id);
    end if;
    perform ledger.win_create(p_books, p_wkind, p_wsub, p_wstart, p_wbix);
  end if;

  v_charged := p_cost; v_balance := p_cost; v_eseq := p_cost;
  v_first := array_fill(0::bigint, array[m]); v_taken := v_first;
  v_n := array_fill(0, array[m]); v_lo := v_n;
  v_spend := array_fill(0::bigint, array[cardinality(p_wsub)]); v_unheld := v_spend;
  for i in 1..n loop
    b := p_bix[i]; h := v_hold[i]; c := p_cost[i];
    if b <> cb then
      if b < cb then raise exception 'items not grouped by book' using errcode = '22L02'; end if;
      if cb > 0 then
        o_available[cb] := a; v_held[cb] := sh; v_seq[cb] := s; v_taken[cb] := t; v_n[cb] := i - v_lo[cb];
      end if;
      cb := b; a := o_available[b]; sh := v_held[b]; s := v_seq[b]; t := 0; v_lo[b] := i; v_first[b] := s + 1;
    elsif p_id[i] <= v_last then
      raise exception 'items not ascending' using errcode = '22L02';
    end if;
    v_last := p_id[i];
    if c < 0 then raise exception 'negative cost' using errcode = '22L03'; end if;
    a := a + h;
    sh := sh - h;
    if c > 0 then s := s + 1; v_eseq[i] := s; else v_eseq[i] := 0; end if;
    if c > a then c := a; v_charged[i] := c; v_off := true; end if; -- never below zero; the rest is written off
    a := a - c;
    t := t + c;
    v_balance[i] := a + sh;
    k := p_kix[i]; v_spend[k] := v_spend[k] + c; v_unheld[k] := v_unheld[k] + h;
    k := p_pix[i]; v_spend[k] := v_spend[k] + c; v_unheld[k] := v_unheld[k] + h;
  end loop;
  o_available[cb] := a; v_held[cb] := sh; v_seq[cb] := s; v_taken[cb] := t; v_n[cb] := n + 1 - v_lo[cb];

  insert into ledger.entry (book_id, seq, amount, balance_after, created_at, request_id, kind)
  select p_books[u.b], u.s, -u.c, u.balance, v_at[u.b], u.id, 1
  from unnest(p_id, p_bix, v_eseq, v_charged, v_balance) u(id, b, s, c, balance) where u.s > 0;
  insert into ledger.meter
  select u.id, p_books[u.b], v_block[u.b] + 1, nullif(u.s, 0), u.c, p_wsub[u.k], p_wsub[u.p],
    p_nums[u.o - 11], p_nums[u.o - 10], p_nums[u.o - 9], p_nums[u.o - 8], p_nums[u.o - 7], p_nums[u.o - 6],
    p_nums[u.o - 5], p_nums[u.o - 4], p_nums[u.o - 3], p_nums[u.o - 2], p_nums[u.o - 1], p_nums[u.o] <> 0
  from (select x.*, x.i::int * 12 as o from unnest(p_id, p_bix, v_eseq, p_cost, p_kix, p_pix)
        with ordinality x(id, b, s, c, k, p, i)) u;
  if v_off then
    insert into ledger.writeoff (book_id, seq, amount, request_id)
    select p_books[u.b], u.s, u.c - u.g, u.id
    from unnest(p_id, p_bix, v_eseq, p_cost, v_charged) u(id, b, s, c, g) where u.c > u.g;
  end if;

  -- Lots: the current lot takes all of it ...
  with x as (
    update ledger.lot l set burned = l.burned + u.t from unnest(v_lot, v_taken) with ordinality u(lot_no, t, i)
    where l.lot_no = u.lot_no and u.t > 0 and l.burned + u.t < l.amount
    returning u.i, l.lot_no, l.burned as upto, u.t, l.is_grant),
  y as (
    insert into ledger.burn (lot_no, from_micro, to_micro, book_id, block_no)
    select x.lot_no, x.upto - x.t, x.upto, p_books[x.i], v_block[x.i] + 1 from x)
  select array_agg(x.i), array_agg(x.is_grant) into v_burned, v_burned_grant from x;
  for i in 1..coalesce(cardinality(v_burned), 0) loop
    b := v_burned[i];
    if v_burned_grant[i] then v_granted[b] := v_granted[b] - v_taken[b]; end if;
    v_taken[b] := -v_taken[b]; -- negative: burned
  end loop;
  for b in 1..m loop
    continue when v_n[b] = 0;
    t := abs(v_taken[b]);
    if v_taken[b] > 0 then -- ... or the walk goes on through the lots in burn order
      v_granted[b] := v_granted[b] - ledger.burn_lots(p_books[b], v_block[b] + 1, t, null, false, null);
      v_lot[b] := ledger.first_lot(p_books[b]);
    end if;
    s := o_available[b] + v_held[b];
    if v_low[b] > s and v_low[b] <= s + t then perform ledger.tell_low(p_books[b], s, v_low[b], p_now); end if;
    lo := v_lo[b];
    hi := lo + v_n[b] - 1;
    v_block[b] := v_block[b] + 1;
    v_head[b] := sha256(v_head[b] || int8send(p_books[b]) || int8send(v_block[b]) || int8send(v_first[b])
      || int8send(s + t) || timestamptz_send(v_at[b]) || array_send(p_id[lo:hi]) || array_send(v_charged[lo:hi])
      || array_send(p_cost[lo:hi]) || array_send(p_nums[lo * 12 - 11:hi * 12]));
  end loop;

  with w as (
    update ledger.win w set spent = w.spent + u.spend, held = w.held - u.unheld
    from unnest(p_wkind, p_wsub, p_wstart, p_wbix, v_spend, v_unheld) u(kind, sub, start, bix, spend, unheld)
    where w.kind = u.kind and w.subject = u.sub and w.start = u.start and w.book_id = p_books[u.bix]
    returning w.spent >= w.next_alert or (w.hard and w.spent >= w.cap and w.exhausted_at is null) as is_due)
  select count(*), count(*) filter (where w.is_due) into v_count, v_alerts from w;
  if v_count <> cardinality(p_wsub) then
    raise exception 'unknown key or project' using errcode = '22L01';
  end if;
  if v_alerts > 0 then perform ledger.tell_budgets(p_wkind, p_wsub, p_wstart, p_now); end if;

  insert into ledger.block (book_id, block_no, first_seq, entries, meters, created_at, hash)
  select u.id, u.block_no, u.first, (u.seq - u.first + 1)::int, u.n, u.at, u.head
  from unnest(p_books, v_block, v_first, v_seq, v_n, v_at, v_head) u(id, block_no, first, seq, n, at, head)
  where u.n > 0;
  update ledger.book t set available = u.a, held = u.h, granted = u.g, seq = u.s, block_no = u.block_no,
    head = u.head, current_lot_no = u.lot, last_at = u.at
  from unnest(p_books, o_available, v_held, v_granted, v_seq, v_block, v_head, v_lot, v_at, v_n)
    u(id, a, h, g, s, block_no, head, lot, at, n)
  where t.book_id = u.id and u.n > 0;
  if v_off and v_keep is null then
    o_charged := v_charged;
  elsif v_off then
    o_charged := array_fill(0::bigint, array[length(o_status)]);
    for i in 1..n loop o_charged[v_keep[i]] := v_charged[i]; end loop;
  end if;
end $$;

create function ledger.first_lot(p_book bigint) returns bigint language sql stable as $$
  -- Burn order: earliest expiry first, at equal expiry granted before paid, then oldest (design 15).
  select lot_no from ledger.lot where book_id = p_book and is_open
  order by expires_at, is_grant desc, lot_no limit 1
$$;

create function ledger.burn_lots(
  p_book bigint, p_block bigint, p_amount bigint, p_lot bigint, p_paid_only boolean, p_before timestamptz
) returns bigint language plpgsql as $$
-- Burns `p_amount` from the open lots in burn order, or from `p_lot` alone; returns the granted part of it.
declare
  v_left bigint := p_amount;
  v_granted bigint := 0;
  v_part bigint;
  l ledger.lot;
begin
  for l in
    select * from ledger.lot x where x.book_id = p_book and x.is_open and (p_lot is null or x.lot_no = p_lot)
      and not (p_paid_only and x.is_grant) and (p_before is null or x.created_at < p_before)
    order by x.expires_at, x.is_grant desc, x.lot_no
  loop
    exit when v_left = 0;
    v_part := least(v_left, l.amount - l.burned);
    update ledger.lot x set burned = x.burned + v_part, is_open = x.burned + v_part < x.amount
    where x.lot_no = l.lot_no;
    insert into ledger.burn (lot_no, from_micro, to_micro, book_id, block_no)
    values (l.lot_no, l.burned, l.burned + v_part, p_book, p_block);
    if l.is_grant then v_granted := v_granted + v_part; end if;
    v_left := v_left - v_part;
  end loop;
  -- Lots hold available + held (L5), so this is a defect, and nothing of the batch may stand.
  if v_left > 0 then raise exception 'lots short in book %', p_book using errcode = 'XX001'; end if;
  return v_granted;
end $$;

create function ledger.tell_low(p_book bigint, p_balance bigint, p_mark bigint, p_now timestamptz) returns void
language sql as $$
  insert into public.outbox (org_id, topic, payload, created_at)
  select org_id, 'credits.low', jsonb_build_object('available_micro_usd', p_balance, 'threshold_micro', p_mark), p_now
  from ledger.book where book_id = p_book
$$;

create function ledger.tell_budgets(p_wkind smallint[], p_wsub int[], p_wstart date[], p_now timestamptz) returns void
language plpgsql as $$
declare
  w ledger.win;
begin
  for w in
    select x.* from unnest(p_wkind, p_wsub, p_wstart) u(kind, sub, start)
    cross join lateral (select * from ledger.win t
                        where t.kind = u.kind and t.subject = u.sub and t.start = u.start limit 1) x
  loop
    if w.spent >= w.next_alert then perform ledger.alert(w.kind, w.subject, w.start, p_now); end if;
    if w.hard and w.spent >= w.cap then perform ledger.exhaust(w.kind, w.subject, w.start, p_now); end if;
  end loop;
end $$;

create function ledger.settle(
  p_books bigint[], p_wkind smallint[], p_wsub int[], p_wstart date[], p_wbix int[],
  p_id uuid[], p_bix int[], p_kix int[], p_pix int[], p_cost bigint[], p_nums int[], p_claimed uuid[],
  p_now timestamptz, out o_status text, out o_charged bigint[], out o_available bigint[]
) language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  r record;
begin
  begin
    select x.o_status, x.o_charged, x.o_available into o_status, o_charged, o_available
    from ledger.settle_run(p_books, p_wkind, p_wsub, p_wstart, p_wbix, p_id, p_bix, p_kix, p_pix, p_cost, p_nums,
      p_now) x;
  exception when data_exception or integrity_constraint_violation then
    o_status := null;
  end;
  if o_status is null then -- as in hold: all locks first, then item by item
    perform from ledger.book where book_id = any (p_books) order by book_id for no key update;
    o_status := '';
    o_charged := p_cost;
    for i in 1..cardinality(p_id) loop
      begin
        select * into r from ledger.settle_run(p_books[p_bix[i]:p_bix[i]],
          array[p_wkind[p_kix[i]], p_wkind[p_pix[i]]], array[p_wsub[p_kix[i]], p_wsub[p_pix[i]]],
          array[p_wstart[p_kix[i]], p_wstart[p_pix[i]]], array[1, 1], p_id[i:i], array[1], array[1], array[2],
          p_cost[i:i], p_nums[i * 12 - 11:i * 12], p_now);
        o_status := o_status || coalesce(r.o_status, 'e');
        if r.o_charged is not null then o_charged[i] := r.o_charged[1]; end if;
      exception
        when data_exception then o_status := o_status || case when sqlstate = '22L01' then 'u' else 'e' end;
        when integrity_constraint_violation then o_status := o_status || 'e';
      end;
    end loop;
    select array_agg(b.available order by u.i) into o_available
    from unnest(p_books) with ordinality u(id, i) left join ledger.book b on b.book_id = u.id;
  end if;
  if cardinality(p_claimed) > 0 then
    update ledger.idempotency t set state = 'done', ended_at = p_now, cost = q.cost from ledger.meter q
    where t.request_id = any (p_claimed) and q.request_id = t.request_id and t.state = 'running';
  end if;
end $$;

-- ----------------------------------------------------------------------------------------- release, extend
create function ledger.release_run(p_books bigint[], p_id uuid[], p_lapsed boolean)
returns table (request_id uuid, book_id bigint, key_no int, project_no int, amount bigint)
language plpgsql as $$
-- Gives holds back and frees their claims; ids without a hold are ignored. With `p_lapsed` only those whose lease
-- has lapsed still, now that the book is locked.
#variable_conflict use_column
begin
  perform from ledger.book b where b.book_id = any (p_books) order by b.book_id for no key update;
  return query
  with d as (
    delete from ledger.hold t using unnest(p_id) u(id)
    where t.hold_id = u.id and t.book_id = any (p_books)
      and not (p_lapsed and exists (select from ledger.lease l where l.lease_id = t.lease_id
                                    and l.expires_at > clock_timestamp()))
    returning t.*, ledger.ulid_day(t.hold_id) as day),
  w as (
    update ledger.win w set held = w.held - x.a
    from (select y.kind, y.subject, y.start, sum(y.amount)::bigint as a
          from (select 1::smallint as kind, d.key_no as subject, d.day as start, d.amount from d
                union all
                select 2::smallint, d.project_no, date_trunc('month', d.day::timestamp)::date, d.amount from d) y
          group by 1, 2, 3) x
    where w.kind = x.kind and w.subject = x.subject and w.start = x.start),
  b as (
    update ledger.book t set held = t.held - x.a, available = t.available + x.a
    from (select d.book_id, sum(d.amount)::bigint as a from d group by 1) x where t.book_id = x.book_id),
  i as (
    delete from ledger.idempotency t using unnest(p_id) u(id)
    where t.request_id = u.id and t.book_id = any (p_books) and t.state = 'running'
      and (not p_lapsed or u.id in (select d.hold_id from d))
      and not exists (select from ledger.meter q where q.request_id = u.id))
  select d.hold_id, d.book_id, d.key_no, d.project_no, d.amount from d;
end $$;

create function ledger.release(p_books bigint[], p_id uuid[]) returns int
language sql security definer set search_path = pg_catalog, pg_temp as $$
  select count(*)::int from ledger.release_run(p_books, p_id, false)
$$;

create function ledger.extend(p_books bigint[], p_id uuid[], p_total bigint[]) returns text
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
-- Raises holds to new totals, in order. Letters: o raised (or high enough), c insufficient credits, b budget,
-- m missing, e refused.
declare
  v_status text := '';
  h ledger.hold;
  d bigint;
  v_day date;
  v_month date;
  v_room boolean;
begin
  perform from ledger.book where book_id = any (p_books) order by book_id for no key update;
  for i in 1..cardinality(p_id) loop
    select * into h from ledger.hold where hold_id = p_id[i] and book_id = any (p_books);
    if not found then v_status := v_status || 'm'; continue; end if;
    d := p_total[i] - h.amount;
    if d <= 0 then v_status := v_status || 'o'; continue; end if;
    v_day := ledger.ulid_day(h.hold_id);
    v_month := date_trunc('month', v_day::timestamp)::date;
    select bool_and(not w.hard or w.cap is null or w.spent + w.held + d <= w.cap) into v_room from ledger.win w
    where (w.kind, w.subject, w.start) in ((1, h.key_no, v_day), (2, h.project_no, v_month));
    if v_room is not true then v_status := v_status || 'b'; continue; end if;
    update ledger.book set available = available - d, held = held + d where book_id = h.book_id and available >= d;
    if not found then v_status := v_status || 'c'; continue; end if;
    update ledger.win w set held = held + d
    where (w.kind, w.subject, w.start) in ((1, h.key_no, v_day), (2, h.project_no, v_month));
    update ledger.hold set amount = p_total[i] where hold_id = h.hold_id;
    v_status := v_status || 'o';
  end loop;
  return v_status;
end $$;

create function ledger.sweep(p_limit int)
returns table (request_id uuid, book_id bigint, key_no int, project_no int, amount bigint)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
-- Releases at most `p_limit` holds whose lease has lapsed and returns them. After a start of the server it waits one
-- lease time, so that gateways can renew and settle from their journals first (4.8 row 22).
#variable_conflict use_column
declare
  v_books bigint[];
  v_ids uuid[];
begin
  select array_agg(distinct x.book_id), array_agg(x.hold_id) into v_books, v_ids
  from (select h.book_id, h.hold_id from ledger.hold h left join ledger.lease l using (lease_id)
        where l.expires_at is null
           or (l.expires_at < clock_timestamp()
               and pg_postmaster_start_time() + make_interval(secs => l.seconds) < clock_timestamp())
        limit p_limit) x;
  if v_ids is not null then
    return query select * from ledger.release_run(v_books, v_ids, true);
  end if;
  -- Claims whose process died between settle and answer: charged, but nothing to replay.
  update ledger.idempotency t set state = 'done', ended_at = clock_timestamp(), cost = q.cost from ledger.meter q
  where t.state = 'running' and q.request_id = t.request_id
    and not exists (select from ledger.lease l where l.lease_id = t.lease_id and l.expires_at > clock_timestamp());
  -- A lease stays for a day after its end: its id is never given out again.
  delete from ledger.lease l where l.expires_at < clock_timestamp() - interval '1 day'
    and not exists (select from ledger.hold h where h.lease_id = l.lease_id)
    and not exists (select from ledger.idempotency i where i.lease_id = l.lease_id and i.state = 'running');
end $$;

-- ------------------------------------------------------------------------------- books, credits and debits
create function ledger.open_book(p_org text, p_environment smallint, p_low_mark bigint) returns bigint
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
-- The book of (org, environment), made when it is missing.
declare
  v_book bigint;
begin
  insert into ledger.book (org_id, environment, low_mark) values (p_org, p_environment, p_low_mark)
  on conflict do nothing returning book_id into v_book;
  if v_book is null then
    select book_id into strict v_book from ledger.book where org_id = p_org and environment = p_environment;
  end if;
  return v_book;
end $$;

create function ledger.set_low_mark(p_book bigint, p_low_mark bigint) returns void
language sql security definer set search_path = pg_catalog, pg_temp as $$
  update ledger.book set low_mark = p_low_mark where book_id = p_book
$$;

create function ledger.post(
  p_book ledger.book, p_amount bigint, p_granted bigint, p_kind smallint, p_ref_type text, p_ref_id text,
  p_lot bytea, p_now timestamptz
) returns bigint language plpgsql as $$
-- One entry in a block of its own; the caller has locked `p_book` and moved the lots. Returns the seq. `p_lot`: the
-- terms of the lot that a credit brings, covered by the hash.
declare
  v_at timestamptz := greatest(p_book.last_at, p_now);
  v_before bigint := p_book.available + p_book.held;
  v_hash bytea := sha256(p_book.head || int8send(p_book.book_id) || int8send(p_book.block_no + 1)
    || int8send(p_book.seq + 1) || int8send(v_before) || timestamptz_send(v_at) || int8send(p_amount)
    || int2send(p_kind) || convert_to(p_ref_type || ' ' || p_ref_id, 'UTF8') || p_lot);
begin
  insert into ledger.entry (book_id, seq, amount, balance_after, created_at, kind, ref_type, ref_id)
  values (p_book.book_id, p_book.seq + 1, p_amount, v_before + p_amount, v_at, p_kind, p_ref_type, p_ref_id);
  insert into ledger.block (book_id, block_no, first_seq, entries, meters, created_at, hash)
  values (p_book.book_id, p_book.block_no + 1, p_book.seq + 1, 1, 0, v_at, v_hash);
  update ledger.book set available = available + p_amount, granted = granted + p_granted, seq = seq + 1,
    block_no = block_no + 1, head = v_hash, last_at = v_at, current_lot_no = ledger.first_lot(p_book.book_id)
  where book_id = p_book.book_id;
  if p_book.low_mark > v_before + p_amount and p_book.low_mark <= v_before then
    perform ledger.tell_low(p_book.book_id, v_before + p_amount, p_book.low_mark, p_now);
  end if;
  return p_book.seq + 1;
end $$;

create function ledger.credit(
  p_book bigint, p_lot_id text, p_amount bigint, p_grant boolean, p_expires timestamptz, p_kind smallint,
  p_ref_type text, p_ref_id text, p_now timestamptz, out o_seq bigint, out o_lot_id text, out o_replay boolean
) language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
-- One entry, one block, one lot, once per (kind, reference): a repeat returns what the first one made.
declare
  v ledger.book;
begin
  select * into strict v from ledger.book where book_id = p_book for no key update;
  select e.seq, l.lot_id, true into o_seq, o_lot_id, o_replay
  from ledger.entry e join ledger.lot l on l.book_id = e.book_id and l.seq = e.seq
  where e.book_id = p_book and e.kind = p_kind and e.ref_type = p_ref_type and e.ref_id = p_ref_id and e.amount > 0;
  if found then return; end if;
  insert into ledger.lot (lot_id, book_id, seq, is_grant, expires_at, created_at, amount)
  values (p_lot_id, p_book, v.seq + 1, p_grant, p_expires, greatest(v.last_at, p_now), p_amount);
  o_seq := ledger.post(v, p_amount, case when p_grant then p_amount else 0 end, p_kind, p_ref_type, p_ref_id,
    timestamptz_send(p_expires) || boolsend(p_grant) || convert_to(p_lot_id, 'UTF8'), p_now);
  o_lot_id := p_lot_id;
  o_replay := false;
end $$;

create function ledger.debit(
  p_book bigint, p_amount bigint, p_kind smallint, p_ref_type text, p_ref_id text, p_lot_id text,
  p_paid_only boolean, p_before timestamptz, p_write_off boolean, p_now timestamptz,
  out o_status text, out o_seq bigint, out o_taken bigint
) language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
-- Takes `p_amount` out of one lot, the paid lots or all, once per (kind, reference). Status: ok, replay,
-- insufficient (nothing was taken). With `p_write_off` it takes what is there and records the rest.
declare
  v ledger.book;
  v_lot bigint;
  v_reach bigint;
begin
  if p_amount <= 0 then raise exception 'a debit is positive' using errcode = '22L03'; end if;
  select * into strict v from ledger.book where book_id = p_book for no key update;
  select e.seq, -e.amount into o_seq, o_taken from ledger.entry e
  where e.book_id = p_book and e.kind = p_kind and e.ref_type = p_ref_type and e.ref_id = p_ref_id and p_kind <> 16;
  if found then o_status := 'replay'; return; end if;
  if p_lot_id is not null then
    select lot_no into strict v_lot from ledger.lot where book_id = p_book and lot_id = p_lot_id;
  end if;
  select least(v.available, coalesce(sum(l.amount - l.burned), 0)::bigint) into v_reach from ledger.lot l
  where l.book_id = p_book and l.is_open and (v_lot is null or l.lot_no = v_lot)
    and not (p_paid_only and l.is_grant) and (p_before is null or l.created_at < p_before);
  if v_reach < p_amount and not p_write_off then
    o_status := 'insufficient'; o_taken := 0; return;
  end if;
  o_taken := least(v_reach, p_amount);
  o_seq := ledger.post(v, -o_taken, -ledger.burn_lots(p_book, v.block_no + 1, o_taken, v_lot, p_paid_only, p_before),
    p_kind, p_ref_type, p_ref_id, '', p_now);
  if o_taken < p_amount then
    insert into ledger.writeoff (book_id, seq, amount) values (p_book, o_seq, p_amount - o_taken);
  end if;
  o_status := 'ok';
end $$;

create function ledger.expire_lot(p_lot bigint, p_now timestamptz)
returns bigint language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
-- Books the expiry of what is left of a lot and not needed by holds; returns the amount, 0 when nothing moved.
declare
  v ledger.book;
  l ledger.lot;
  v_amount bigint;
begin
  select b.* into v from ledger.book b join ledger.lot x using (book_id) where x.lot_no = p_lot for no key update of b;
  select * into l from ledger.lot where lot_no = p_lot;
  if not found or not l.is_open or l.expires_at > p_now then return 0; end if;
  v_amount := least(l.amount - l.burned, v.available);
  if v_amount = 0 then return 0; end if;
  perform ledger.post(v, -v_amount, -ledger.burn_lots(v.book_id, v.block_no + 1, v_amount, p_lot, false, null),
    16::smallint, 'lot', l.lot_id, '', p_now);
  return v_amount;
end $$;

-- ------------------------------------------------------------------------------------------------- budgets
create function ledger.set_budget(
  p_book bigint, p_kind smallint, p_subject int, p_cap bigint, p_hard boolean, p_alerts smallint[], p_today date
) returns void language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
-- Sets the budget and the window that holds `p_today`. Thresholds above the new share of the cap are armed again.
declare
  v_start date := case p_kind when 1 then p_today else date_trunc('month', p_today::timestamp)::date end;
  w ledger.win;
begin
  perform from ledger.book where book_id = p_book for no key update;
  if not found then raise exception 'unknown book' using errcode = '22L01'; end if;
  insert into ledger.budget (kind, subject, book_id, cap, hard, alerts)
  values (p_kind, p_subject, p_book, p_cap, p_hard, p_alerts)
  on conflict (kind, subject) do update set cap = p_cap, hard = p_hard, alerts = p_alerts
  where budget.book_id = p_book;
  if not found then raise exception 'the subject belongs to another book' using errcode = '22L01'; end if;
  select * into w from ledger.win t where t.kind = p_kind and t.subject = p_subject and t.start = v_start;
  if not found then return; end if;
  w.alerted := least(w.alerted, coalesce(
    (select max(a) from unnest(p_alerts) a where w.spent >= ledger.threshold(p_cap, a)), 0));
  update ledger.win t set cap = p_cap, hard = p_hard, alerted = w.alerted,
    next_alert = ledger.next_alert(p_cap, p_alerts, w.alerted),
    exhausted_at = case when p_hard and p_cap <= t.spent + t.held then t.exhausted_at end
  where t.kind = p_kind and t.subject = p_subject and t.start = v_start;
end $$;

create function ledger.resume(p_kind smallint, p_subject int, p_start date) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
-- Lifts the hard rule for the rest of one window (P7.3); false when there is no hard window to lift.
begin
  perform from ledger.book b join ledger.win w using (book_id)
  where w.kind = p_kind and w.subject = p_subject and w.start = p_start for no key update of b;
  update ledger.win set hard = false, exhausted_at = null
  where kind = p_kind and subject = p_subject and start = p_start and hard;
  return found;
end $$;

-- -------------------------------------------------------------------------------------------------- rights
-- The runtime role reads, and writes through the functions alone (they run with the owner's rights); tables that
-- carry no money are open to it. History (entry, block, meter, burn, writeoff) can be changed by nobody but the owner.
revoke all on all functions in schema ledger from public;
grant usage on schema ledger, public to svc_runtime;
grant select on all tables in schema ledger to svc_runtime;
grant insert, update, delete on ledger.lease, ledger.idempotency to svc_runtime;
grant execute on function ledger.ulid_day, ledger.hold, ledger.settle, ledger.release, ledger.extend, ledger.sweep,
  ledger.open_book, ledger.set_low_mark, ledger.credit, ledger.debit, ledger.expire_lot, ledger.set_budget,
  ledger.resume, ledger.make_meter_partitions to svc_runtime;
grant select, insert, update, delete on all tables in schema public to svc_runtime;
-- Tables of later migrations; one that holds history revokes for itself.
alter default privileges in schema public grant select, insert, update, delete on tables to svc_runtime;
alter default privileges in schema public grant usage, select on sequences to svc_runtime;
