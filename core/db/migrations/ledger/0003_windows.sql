-- compatible_from: 0003
-- Budget windows: made when a call needs them, told when a threshold or the cap is reached.

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
returns void language plpgsql as $$
begin
  insert into ledger.win (kind, subject, start, book_id, cap, hard, next_alert)
  select b.kind, b.subject, u.start, b.book_id, b.cap, b.hard, ledger.next_alert(b.cap, b.alerts, 0::smallint)
  from unnest(p_wkind, p_wsub, p_wstart, p_wbix) u(kind, sub, start, bix)
  join ledger.budget b on b.kind = u.kind and b.subject = u.sub and b.book_id = p_books[u.bix]
  on conflict do nothing;
end $$;

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
    insert into ledger.outbox (org_id, topic, payload, created_at)
    select b.org_id, 'budget.exhausted',
      ledger.budget_payload(w) || jsonb_build_object('resumes_at', ledger.budget_payload(w) -> 'window_end'), p_now
    from ledger.book b where b.book_id = w.book_id;
  end if;
end $$;

create function ledger.alert(p_kind smallint, p_subject int, p_start date, p_now timestamptz) returns void
language plpgsql as $$
-- One `budget.threshold` per threshold that the spend of the window has reached.
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
    insert into ledger.outbox (org_id, topic, payload, created_at)
    select b.org_id, 'budget.threshold',
      ledger.budget_payload(w) || jsonb_build_object('threshold_percent', v_percent), p_now
    from ledger.book b where b.book_id = w.book_id;
    w.alerted := v_percent;
  end loop;
  update ledger.win t set alerted = w.alerted, next_alert = ledger.next_alert(w.cap, v_alerts, w.alerted)
  where t.kind = p_kind and t.subject = p_subject and t.start = p_start;
end $$;

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
