-- compatible_from: 0054
-- Changes of prices and models that are deprecated, of which organizations are told. An older program writes none.

-- When a model was found deprecated, or not any more, by the dates that its file then had.
create table catalog.deprecation (
  deprecation_no int generated always as identity primary key,
  model_no int not null references catalog.model,
  is_deprecated bool not null,
  deprecated_at date,
  retires_at date,
  noted_at timestamptz not null
);
create index deprecation_of_model on catalog.deprecation (model_no, deprecation_no);
create trigger deprecation_is_never_changed before update or delete or truncate on catalog.deprecation
  for each statement execute function catalog.refuse_change();

create table catalog.news (
  news_no int generated always as identity primary key,
  topic text not null check (topic in ('model.price_changed', 'model.deprecated')),
  model_no int not null references catalog.model,
  endpoint_no int references catalog.endpoint,
  effective_at timestamptz not null,
  summary text not null check (char_length(summary) between 1 and 500),
  created_at timestamptz not null,
  -- The last organization that was told, or passed over; they are told in the order of their ids. Null: all were.
  announced_through text default ''
);
create index news_untold on catalog.news (news_no) where announced_through is not null;

grant select, insert on catalog.deprecation, catalog.news to svc_runtime;
grant update (announced_through) on catalog.news to svc_runtime;
