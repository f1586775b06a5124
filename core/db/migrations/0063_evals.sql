-- compatible_from: 0054
-- Evaluations: suites of cases in revisions, runs over targets, the calls of a run and their graded answers.

create table eval_suite (
  id text primary key check (id ~ '^es_[0-9A-HJKMNP-TV-Z]{26}$'),
  org_id text not null references org,
  name text not null check (char_length(name) between 1 and 120),
  revision int not null check (revision > 0),
  case_count int not null check (case_count between 1 and 5000),
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index eval_suite_walk on eval_suite (org_id, created_at desc, id desc);

-- A revision never changes. One that no run names any more is deleted when the suite gets another.
create table eval_case (
  suite_id text not null,
  revision int not null,
  case_no int not null check (case_no >= 0),
  case_id text not null,
  -- Input, grader, weight and tags, as the caller gave them.
  body jsonb not null,
  primary key (suite_id, revision, case_no),
  constraint eval_case_id_once unique (suite_id, revision, case_id)
);

create table eval_run (
  id text primary key check (id ~ '^er_[0-9A-HJKMNP-TV-Z]{26}$'),
  org_id text not null references org,
  project_id text not null,
  environment text not null check (environment in ('live', 'test')),
  -- The key that started it and pays; null: a person did.
  key_id text,
  -- Under which number its calls count in the ledger.
  key_no int not null,
  -- The suite may be deleted; runs and results stay.
  suite_id text not null,
  suite_name text not null,
  suite_revision int not null,
  case_count int not null check (case_count > 0),
  targets jsonb not null,
  repeat int not null check (repeat between 1 and 5),
  concurrency int not null check (concurrency between 1 and 16),
  judge_model text not null,
  judge_samples int not null check (judge_samples between 1 and 9),
  budget_micro bigint not null check (budget_micro >= 1),
  estimate_micro bigint not null check (estimate_micro >= 0),
  status text not null check (status in ('pending', 'running', 'completed', 'stopped', 'cancelled', 'failed')),
  stop_reason text not null default '' check (stop_reason in ('', 'budget', 'cancelled', 'credits', 'error')),
  spent_micro bigint not null default 0 check (spent_micro >= 0),
  -- Of calls that are under way: the most that each can cost.
  reserved_micro bigint not null default 0 check (reserved_micro >= 0),
  -- What providers reported beyond the most that calls could cost; nobody was charged for it.
  written_off_micro bigint not null default 0 check (written_off_micro >= 0),
  passed int not null default 0,
  failed int not null default 0,
  errors int not null default 0,
  skipped int not null default 0,
  score double precision check (score between 0 and 1),
  score_low double precision,
  score_high double precision,
  -- How long the text of answers is kept; null: it is not.
  outputs_until timestamptz,
  created_at timestamptz not null,
  started_at timestamptz,
  finished_at timestamptz,
  constraint eval_run_within_budget check (spent_micro + reserved_micro <= budget_micro),
  constraint eval_run_ends_without_calls check (finished_at is null or reserved_micro = 0),
  constraint eval_run_finished_iff_ended check ((finished_at is null) = (status in ('pending', 'running')))
);
create index eval_run_walk on eval_run (org_id, created_at desc, id desc);
create index eval_run_suite on eval_run (suite_id, suite_revision);

-- A call of a run: money is reserved with its row, and given back with the same row, once each.
create table eval_call (
  run_id text not null references eval_run,
  -- Which answer: case, target and repeat in one number.
  unit_no int not null check (unit_no >= 0),
  -- 0: the case itself; 1 to 9: a sample of its judge.
  sample int not null check (sample between 0 and 9),
  reserved_micro bigint not null check (reserved_micro >= 0),
  cost_micro bigint check (cost_micro >= 0),
  written_off_micro bigint not null default 0 check (written_off_micro >= 0),
  -- Why it has no answer; empty: it has one, or is under way.
  error_code text not null default '',
  opened_at timestamptz not null,
  closed_at timestamptz,
  primary key (run_id, unit_no, sample),
  constraint eval_call_costs_no_more check (cost_micro <= reserved_micro),
  constraint eval_call_cost_iff_closed check ((cost_micro is null) = (closed_at is null))
);

create table eval_result (
  id bigint generated always as identity primary key,
  run_id text not null references eval_run,
  unit_no int not null,
  case_no int not null,
  case_id text not null,
  target_no int not null,
  repeat_index int not null,
  weight double precision not null check (weight >= 0),
  status text not null check (status in ('passed', 'failed', 'error', 'skipped')),
  score double precision not null check (score between 0 and 1),
  -- Grades of this answer, and how many of them pass: one, or one per sample of a judge.
  grades int not null default 0,
  grades_passed int not null default 0,
  grader_kind text not null,
  grader_detail jsonb not null,
  -- null: not kept.
  output text,
  output_hash text not null,
  request_id text not null,
  judge_request_ids text[] not null default '{}',
  usage jsonb,
  cost_micro bigint not null check (cost_micro >= 0),
  ttft_ms double precision,
  duration_ms double precision,
  error_code text not null,
  created_at timestamptz not null,
  constraint eval_result_once unique (run_id, unit_no)
);
create index eval_result_case on eval_result (run_id, case_no, target_no);
