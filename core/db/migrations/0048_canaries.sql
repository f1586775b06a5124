-- compatible_from: 0019
-- Canaries of routing policies: what calls showed, how it was judged, and which were rolled back. An older program sends
-- an endpoint on trial no share of the calls, and so has nothing to take away.

-- A canary that was rolled back: it gets no share any more under its version.
create table policy_canary_halt (
  org_id text not null,
  name text not null,
  version int not null,
  endpoint_id text not null,
  halted_at timestamptz not null,
  primary key (org_id, name, version, endpoint_id),
  foreign key (org_id, name, version) references policy_version on delete cascade
);
create trigger policy_canary_halt_announces after insert on policy_canary_halt
  for each row execute function announce_policy_change();

-- Calls since the last judgement, a row for each batch of request rows and canary; whoever judges takes them away.
create table canary_sample (
  org_id text not null,
  name text not null,
  version int not null,
  endpoint_id text not null,
  canary_calls int not null,
  canary_errors int not null,
  control_calls int not null,
  control_errors int not null
);

create table canary (
  org_id text not null,
  name text not null,
  version int not null,
  endpoint_id text not null,
  state text not null check (state in ('pending', 'green', 'red')),
  -- Why it is red, for people.
  reason text not null,
  p_value double precision not null check (p_value between 0 and 1),
  -- When its first call was judged: windows are counted from here.
  started_at timestamptz not null,
  -- When calls of either side came last.
  canary_at timestamptz,
  control_at timestamptz,
  evaluated_at timestamptz not null,
  primary key (org_id, name, version, endpoint_id),
  foreign key (org_id, name, version) references policy_version on delete cascade
);

-- What came in each window of a canary; windows without calls have no row.
create table canary_window (
  org_id text not null,
  name text not null,
  version int not null,
  endpoint_id text not null,
  window_no int not null check (window_no >= 0),
  canary_calls bigint not null,
  canary_errors bigint not null,
  control_calls bigint not null,
  control_errors bigint not null,
  primary key (org_id, name, version, endpoint_id, window_no),
  foreign key (org_id, name, version, endpoint_id) references canary on delete cascade
);
