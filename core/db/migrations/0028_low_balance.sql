-- compatible_from: 0025
-- Below which balance an organization is told, as it chose; the ledger keeps the mark of its live book.
alter table org add column low_balance_micro bigint not null default 5000000
  constraint low_balance_is_not_negative check (low_balance_micro >= 0);

-- The mark is changed by an order, like budgets.
alter table ledger_task
  drop constraint ledger_task_kind_is_known,
  add constraint ledger_task_kind_is_known
    check (kind in ('open_book', 'credit', 'debit', 'restore', 'set_budget', 'resume_budget', 'set_low_mark'));
