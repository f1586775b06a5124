-- compatible_from: 0019
-- Plans with a fee: since when an organization has its plan, which one follows, and what each month was charged.

alter table org
  -- Null: since it was made.
  add column plan_since timestamptz,
  add column next_plan_id text check (next_plan_id in ('payg', 'team', 'scale', 'enterprise')),
  -- From when the next plan applies.
  add column next_plan_at timestamptz,
  add constraint next_plan_has_a_time check ((next_plan_id is null) = (next_plan_at is null));
create index org_with_a_plan on org (plan_id, id) where plan_id <> 'payg';

create table plan_charge (
  org_id text not null references org,
  -- First UTC day of the month.
  period date not null constraint plan_charge_period_is_a_month check (extract(day from period) = 1),
  -- 0: the fee of the month itself; above: upgrades within it, in their order.
  no int not null check (no >= 0),
  plan_id text not null,
  fee_micro bigint not null constraint plan_fee_positive check (fee_micro > 0),
  included_micro bigint not null check (included_micro >= 0),
  -- `pending`: the ledger was asked; `grace`: not enough credit, it is tried again; `refused`: an upgrade without enough
  -- credit; `lapsed`: not paid in time, or given up.
  status text not null check (status in ('pending', 'grace', 'paid', 'refused', 'lapsed')),
  -- How often the ledger was asked; each time is an order of its own.
  tries int not null check (tries > 0),
  -- Mails that said that the fee could not be taken.
  mails int not null default 0,
  grace_until timestamptz,
  created_at timestamptz not null,
  settled_at timestamptz,
  constraint plan_charge_once primary key (org_id, period, no),
  constraint plan_charge_settled_iff_over check ((settled_at is not null) = (status in ('paid', 'refused', 'lapsed'))),
  constraint plan_charge_grace_has_an_end check (status <> 'grace' or grace_until is not null)
);
create unique index plan_charge_one_at_a_time on plan_charge (org_id) where settled_at is null;
create index plan_charge_pending on plan_charge (created_at) where status = 'pending';

revoke delete, truncate on plan_charge from svc_runtime;

alter table ledger_task
  drop constraint ledger_task_kind_is_known,
  drop constraint reference_iff_it_is_answered,
  add constraint ledger_task_kind_is_known check (kind in
    ('open_book', 'credit', 'debit', 'restore', 'charge_plan', 'set_budget', 'resume_budget', 'set_low_mark')),
  add constraint reference_iff_it_is_answered
    check ((reference is not null) = (kind in ('credit', 'debit', 'restore', 'charge_plan')));
