-- compatible_from: 0028
-- Mandates: leave to charge somebody who is not there; and automatic top-ups, which use them.

create table mandate (
  id text primary key check (id ~ '^mnd_[0-9A-HJKMNP-TV-Z]{26}$'),
  org_id text not null references org,
  gateway text not null check (gateway in ('rail-a', 'rail-b')),
  method text not null check (method in ('card', 'upi', 'emandate')),
  status text not null
    check (status in ('pending', 'active', 'paused', 'cancelled', 'rejected', 'expired')),
  -- Why it is not active, in a word.
  reason text,
  -- Session or order of the registration at the rail; null until the rail has answered.
  setup_ref text,
  registration_url text,
  -- The rail's names of the payer and of the method that was kept.
  customer_ref text,
  token_ref text,
  max_amount_minor bigint not null check (max_amount_minor > 0),
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  notify_hours int not null check (notify_hours >= 0),
  consecutive_failures int not null default 0 check (consecutive_failures >= 0),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- Until then it can be registered.
  expires_at timestamptz not null,
  registered_at timestamptz,
  -- When the rail's leave ends; null: never.
  ends_at timestamptz,
  -- When the rail took back what a mandate that is over allowed.
  released_at timestamptz,
  constraint mandate_in_force_has_everything
    check (status not in ('active', 'paused') or (token_ref is not null and customer_ref is not null and registered_at is not null)),
  constraint mandate_setup_once unique (gateway, setup_ref)
);
create unique index mandate_one_in_force on mandate (org_id) where status in ('active', 'paused');
create unique index mandate_one_pending on mandate (org_id) where status = 'pending';
create index mandate_token on mandate (gateway, token_ref) where token_ref is not null;
create index mandate_customer on mandate (gateway, customer_ref) where customer_ref is not null;
create index mandate_walk on mandate (org_id, created_at desc, id desc);
create index mandate_ending on mandate (ends_at) where status in ('active', 'paused') and ends_at is not null;

create table auto_topup (
  org_id text primary key references org,
  enabled boolean not null,
  threshold_micro bigint not null check (threshold_micro > 0),
  amount_minor bigint not null check (amount_minor > 0),
  -- Number of the last attempt.
  attempts int not null default 0,
  -- Why the service switched it off; null where people did.
  disabled_reason text,
  -- Why nothing is bought although the balance is below the threshold.
  blocked_reason text,
  blocked_at timestamptz,
  blocked_until timestamptz,
  updated_at timestamptz not null,
  constraint auto_topup_block_has_a_time check ((blocked_reason is null) = (blocked_at is null))
);
create index auto_topup_enabled on auto_topup (org_id) where enabled;

create table auto_topup_attempt (
  org_id text not null references auto_topup,
  attempt_no int not null check (attempt_no > 0),
  mandate_id text not null references mandate,
  topup_id text not null unique references topup,
  status text not null
    check (status in ('announcing', 'waiting', 'charging', 'succeeded', 'failed', 'skipped', 'not_needed')),
  created_at timestamptz not null,
  -- When the rail had given its notice, or ours was asked for; the debit waits from then on.
  notified_at timestamptz,
  notice_failed boolean not null default false,
  due_at timestamptz,
  skipped_at timestamptz,
  -- When the rail was first asked for the debit; from then on it is asked whether it has it before anything is sent again.
  sent_at timestamptz,
  ended_at timestamptz,
  primary key (org_id, attempt_no),
  constraint attempt_ended_iff_over check ((ended_at is null) = (status in ('announcing', 'waiting', 'charging'))),
  constraint attempt_sent_after_notice check (sent_at is null or due_at is not null)
);
-- Whatever asks for a debit, an organization has one at a time.
create unique index auto_topup_one_at_a_time on auto_topup_attempt (org_id) where ended_at is null;

-- Which attempt a top-up is of; its workflow is named by it.
alter table topup add column attempt_no int;
alter table topup add constraint topup_auto_has_attempt check ((source = 'auto') = (attempt_no is not null)) not valid;

revoke delete, truncate on mandate, auto_topup, auto_topup_attempt from svc_runtime;
