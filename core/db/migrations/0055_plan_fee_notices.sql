-- compatible_from: 0054
-- What organizations were told of a fee that rises, before it does: a rise holds for one only after its notice.

create table plan_fee_notice (
  org_id text not null references org (id),
  plan_id text not null,
  -- The day from which the sheet of plans has the fee.
  sheet_from date not null,
  fee_minor bigint not null check (fee_minor > 0),
  -- First day of the month from which it is taken from this organization.
  begins_on date not null constraint plan_fee_notice_begins_with_a_month check (extract(day from begins_on) = 1),
  created_at timestamptz not null,
  constraint plan_fee_notice_once primary key (org_id, plan_id, sheet_from, fee_minor),
  constraint plan_fee_notice_not_before_the_sheet check (begins_on >= sheet_from)
);
revoke update, delete, truncate on plan_fee_notice from svc_runtime;

-- Fees that hold already were announced by hand.
insert into plan_fee_notice (org_id, plan_id, sheet_from, fee_minor, begins_on, created_at)
select o.id, o.plan_id, (f ->> 'from')::date, max((f -> 'fee' ->> 'monthly_minor')::bigint), (f ->> 'from')::date, now()
  from settings s
 cross join lateral jsonb_array_elements(s.value -> 'fees') f
  join org o on o.plan_id = f ->> 'plan_id' and o.status <> 'closed'
 where s.name = 'plans' and f -> 'fee' ? 'monthly_minor' and (f ->> 'from')::date <= now()
 group by o.id, o.plan_id, f ->> 'from';
