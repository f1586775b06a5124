-- compatible_from: 0034
-- Disputes: payments whose payer asks the bank for the money back, and what follows for the organization.

create table dispute (
  id text primary key check (id ~ '^dsp_[0-9A-HJKMNP-TV-Z]{26}$'),
  org_id text not null references org,
  topup_id text not null references topup,
  book_id bigint not null,
  gateway text not null check (gateway in ('rail-a', 'rail-b')),
  -- The rail's name of it.
  gateway_ref text not null,
  payment_ref text not null,
  -- The rail's words.
  phase text not null,
  reason text not null,
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  -- What the payer wants back, as the rail says, and its parts by the proportions of the top-up. `excess_minor` is more
  -- than what was left of the payment.
  amount_minor bigint not null check (amount_minor > 0),
  price_minor bigint not null check (price_minor >= 0),
  cgst_minor bigint not null check (cgst_minor >= 0),
  sgst_minor bigint not null check (sgst_minor >= 0),
  igst_minor bigint not null check (igst_minor >= 0),
  excess_minor bigint not null,
  credits_micro bigint not null check (credits_micro >= 0),
  -- Credits that nobody had and that the loss therefore costs; null until the ledger has answered.
  written_off_micro bigint check (written_off_micro between 0 and credits_micro),
  status text not null check (status in ('open', 'won', 'lost')),
  respond_by timestamptz,
  opened_at timestamptz not null,
  closed_at timestamptz,
  updated_at timestamptz not null,
  -- Of a loss: when staff let the organization make calls again, and when the loss was paid.
  lifted_at timestamptz,
  paid_at timestamptz,
  constraint dispute_of_rail_once unique (gateway, gateway_ref),
  constraint dispute_amount_is_the_sum
    check (amount_minor = price_minor + cgst_minor + sgst_minor + igst_minor + excess_minor),
  constraint dispute_closed_iff_not_open check ((closed_at is not null) = (status <> 'open')),
  constraint dispute_only_a_loss_costs
    check (status = 'lost' or (written_off_micro is null and lifted_at is null and paid_at is null))
);
create index dispute_of_topup on dispute (topup_id, opened_at);
create index dispute_walk on dispute (opened_at desc, id desc);
-- Disputes that hold the payments of their organization: open, or lost with a loss that nobody has paid.
create index dispute_holds_payments on dispute (org_id)
  where status = 'open' or (status = 'lost' and written_off_micro is distinct from 0 and paid_at is null);
create index dispute_unanswered on dispute (closed_at) where status = 'lost' and written_off_micro is null;

-- What a rail says of each dispute that it has, also of a payment that is not booked yet.
create table rail_dispute (
  rail text not null,
  ref text not null,
  payment_ref text not null,
  -- Ours, once the payment is booked.
  dispute_id text references dispute,
  amount_minor bigint not null check (amount_minor > 0),
  currency text not null,
  status text not null check (status in ('open', 'won', 'lost')),
  phase text not null,
  reason text not null,
  respond_by timestamptz,
  seen_at timestamptz not null,
  primary key (rail, ref)
);
create index rail_dispute_unclaimed on rail_dispute (rail, payment_ref) where dispute_id is null;

revoke delete, truncate on dispute, rail_dispute from svc_runtime;

-- Why an organization is suspended, where it was not a person who did it.
alter table org add column suspended_for text,
  add constraint org_suspended_for_is_known check (suspended_for in ('payment_hold'));

-- The end of a lost dispute is ordered like a debit, with the ledger's answer kept.
alter table ledger_task
  drop constraint ledger_task_kind_is_known,
  drop constraint reference_iff_it_is_answered,
  add constraint ledger_task_kind_is_known
    check (kind in ('open_book', 'credit', 'debit', 'restore', 'charge_plan', 'charge_back', 'set_budget',
                    'resume_budget', 'set_low_mark')),
  add constraint reference_iff_it_is_answered
    check ((reference is not null) = (kind in ('credit', 'debit', 'restore', 'charge_plan', 'charge_back')));
