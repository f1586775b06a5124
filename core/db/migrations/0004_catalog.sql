-- compatible_from: 0004
-- Numbers and prices of the catalog. The files say what is offered; these tables say what things are called in
-- metering records, and what they cost when.
create schema catalog;

create table catalog.model (
  model_no int generated always as identity primary key,
  id text not null constraint model_id_once unique,
  created_at timestamptz not null
);

create table catalog.endpoint (
  endpoint_no int generated always as identity primary key,
  id text not null constraint endpoint_id_once unique,
  model_no int not null references catalog.model,
  provider text not null,
  upstream_model text not null,
  region text not null,
  created_at timestamptz not null
);
create index endpoint_of_model on catalog.endpoint (model_no);

-- The id is a hash of endpoint, use and content, so a price can never change under its id.
create table catalog.price_version (
  price_no int generated always as identity primary key,
  id text not null constraint price_id_once unique,
  endpoint_no int not null references catalog.endpoint,
  use text not null, -- standard, test (sandbox keys) or a service tier
  content jsonb not null,
  created_at timestamptz not null
);
create index price_version_of_endpoint on catalog.price_version (endpoint_no);

create table catalog.price_history (
  history_no int generated always as identity primary key,
  endpoint_no int not null references catalog.endpoint,
  use text not null,
  price_no int not null references catalog.price_version,
  effective_from timestamptz not null
);
create index price_history_of_endpoint on catalog.price_history (endpoint_no, use, history_no);

create function catalog.refuse_change() returns trigger language plpgsql as $$
begin
  raise exception 'catalog.% is never changed; add a row', tg_table_name;
end $$;

create trigger model_is_never_changed before update or delete or truncate on catalog.model
  for each statement execute function catalog.refuse_change();
create trigger endpoint_is_never_changed before update or delete or truncate on catalog.endpoint
  for each statement execute function catalog.refuse_change();
create trigger price_version_is_never_changed before update or delete or truncate on catalog.price_version
  for each statement execute function catalog.refuse_change();
create trigger price_history_is_never_changed before update or delete or truncate on catalog.price_history
  for each statement execute function catalog.refuse_change();

grant usage on schema catalog to svc_runtime;
grant select, insert on all tables in schema catalog to svc_runtime;
