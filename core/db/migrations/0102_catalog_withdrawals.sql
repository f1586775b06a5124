-- compatible_from: 0054
-- What the files offered last, and what left them and came back. An older program notes neither: what it leaves out or adds is noted by
-- the next load of a newer one.

-- Endpoints of the files that were loaded last. One that is not here was never in a file since there is this table, or left it.
create table catalog.offered (
  endpoint_no int primary key references catalog.endpoint,
  model_no int not null references catalog.model
);

-- What left the files, until it came back. One that was back within the hour is not kept.
create table catalog.withdrawal (
  withdrawal_no int generated always as identity primary key,
  model_no int not null references catalog.model,
  -- null: the model, of which no endpoint was left.
  endpoint_no int references catalog.endpoint,
  left_at timestamptz not null,
  returned_at timestamptz,
  -- Whether its last day had come before: that was said.
  after_retirement bool not null,
  constraint withdrawal_returns_after_it_left check (returned_at > left_at)
);
create unique index withdrawal_is_open_once on catalog.withdrawal (model_no, endpoint_no) nulls not distinct
  where returned_at is null;
create index withdrawal_of_model on catalog.withdrawal (model_no, left_at);

-- Withdrawals in the words in which they are told. What is said of a model is not said of the endpoints that left and came back with it.
create view catalog.withdrawal_shown with (security_invoker = true) as
  select withdrawal.*, endpoint.id as endpoint_id,
         case when endpoint_no is null then 'The model is not offered any more.'
              else format('Not offered at %s any more, in region %s.', provider, region) end as summary,
         case when endpoint_no is null then 'The model is offered again.'
              else format('Offered at %s again, in region %s.', provider, region) end as returned_summary
    from catalog.withdrawal left join catalog.endpoint using (endpoint_no, model_no)
   where endpoint_no is null
      or not exists (select from catalog.withdrawal whole
                      where whole.model_no = withdrawal.model_no and whole.endpoint_no is null
                        and whole.left_at = withdrawal.left_at
                        and whole.returned_at is not distinct from withdrawal.returned_at);

-- The withdrawal that the news is of; each is told once.
alter table catalog.news add withdrawal_no int references catalog.withdrawal constraint withdrawal_told_once unique;

grant select, insert, delete on catalog.offered, catalog.withdrawal to svc_runtime;
grant select on catalog.withdrawal_shown to svc_runtime;
grant update (returned_at) on catalog.withdrawal to svc_runtime;
