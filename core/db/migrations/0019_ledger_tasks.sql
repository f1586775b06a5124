-- compatible_from: 0019
-- What the ledger is to do, ordered in the transaction that decides it. The ledger may be in another database, so the
-- order is carried out after the commit, once more than once if need be: each says the same when it is repeated.
create table ledger_task (
  task_no bigint generated always as identity primary key,
  shard text not null,
  book_id bigint not null,
  kind text not null constraint ledger_task_kind_is_known
    check (kind in ('open_book', 'credit', 'set_budget', 'resume_budget')),
  -- Of a credit: its kind and reference. Its row stays, so that a reference used again is seen where it is ordered.
  reference text constraint reference_iff_credit check ((reference is not null) = (kind = 'credit')),
  content jsonb not null,
  -- What the ledger answered, once it has.
  result jsonb,
  applied_at timestamptz constraint applied_iff_answered check ((applied_at is null) = (result is null)),
  tries int not null default 0,
  -- When it is tried again without being asked for, and what came of the last try.
  next_at timestamptz not null,
  fault text,
  created_at timestamptz not null
);
create unique index ledger_task_credits_once on ledger_task (book_id, reference) where reference is not null;
create index ledger_task_waiting on ledger_task (book_id, task_no) where applied_at is null;
