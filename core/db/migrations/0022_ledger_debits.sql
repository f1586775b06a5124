-- compatible_from: 0021
-- Debits, and what puts their credit back, are ordered like credits: in the transaction that decides them, once per
-- reference, with the ledger's answer kept.
alter table ledger_task
  drop constraint ledger_task_kind_is_known,
  drop constraint reference_iff_credit,
  add constraint ledger_task_kind_is_known
    check (kind in ('open_book', 'credit', 'debit', 'restore', 'set_budget', 'resume_budget')),
  add constraint reference_iff_it_is_answered
    check ((reference is not null) = (kind in ('credit', 'debit', 'restore')));
