-- What all migrations together make, read from the catalog of a migrated database: to be read, never run.
-- Partitions of days and months are left out. `make schema` writes it; core/db/schema.test.ts fails where it is not current.

create schema catalog;
grant usage on schema catalog to svc_runtime;

create schema ledger;
grant usage on schema ledger to svc_runtime;

create schema public;
grant usage on schema public to public;
grant usage on schema public to svc_runtime;
alter default privileges in schema public grant select, usage on sequences to svc_runtime;
alter default privileges in schema public grant delete, insert, select, update on tables to svc_runtime;

create sequence public.api_key_no as integer increment 1 minvalue 1 maxvalue 2147483647 start 1;

create sequence public.book_no as bigint increment 1 minvalue 1 maxvalue 9223372036854775807 start 1;

create sequence public.policy_activation_no as bigint increment 1 minvalue 1 maxvalue 9223372036854775807 start 1;

create sequence public.project_no as integer increment 1 minvalue 1 maxvalue 2147483647 start 1;

create table catalog.deprecation (
  deprecation_no integer not null generated always as identity,
  model_no integer not null,
  is_deprecated boolean not null,
  deprecated_at date,
  retires_at date,
  noted_at timestamp with time zone not null,
  constraint deprecation_pkey PRIMARY KEY (deprecation_no),
  constraint deprecation_model_no_fkey FOREIGN KEY (model_no) REFERENCES catalog.model(model_no)
);
CREATE INDEX deprecation_of_model ON catalog.deprecation USING btree (model_no, deprecation_no);
CREATE TRIGGER deprecation_is_never_changed BEFORE DELETE OR UPDATE OR TRUNCATE ON catalog.deprecation FOR EACH STATEMENT EXECUTE FUNCTION catalog.refuse_change();
grant insert, select on catalog.deprecation to svc_runtime;

create table catalog.endpoint (
  endpoint_no integer not null generated always as identity,
  id text not null,
  model_no integer not null,
  provider text not null,
  upstream_model text not null,
  region text not null,
  created_at timestamp with time zone not null,
  constraint endpoint_pkey PRIMARY KEY (endpoint_no),
  constraint endpoint_id_once UNIQUE (id),
  constraint endpoint_model_no_fkey FOREIGN KEY (model_no) REFERENCES catalog.model(model_no)
);
CREATE INDEX endpoint_of_model ON catalog.endpoint USING btree (model_no);
CREATE TRIGGER endpoint_is_never_changed BEFORE DELETE OR UPDATE OR TRUNCATE ON catalog.endpoint FOR EACH STATEMENT EXECUTE FUNCTION catalog.refuse_change();
grant insert, select on catalog.endpoint to svc_runtime;

create table catalog.model (
  model_no integer not null generated always as identity,
  id text not null,
  created_at timestamp with time zone not null,
  constraint model_pkey PRIMARY KEY (model_no),
  constraint model_id_once UNIQUE (id)
);
CREATE TRIGGER model_is_never_changed BEFORE DELETE OR UPDATE OR TRUNCATE ON catalog.model FOR EACH STATEMENT EXECUTE FUNCTION catalog.refuse_change();
grant insert, select on catalog.model to svc_runtime;

create table catalog.news (
  news_no integer not null generated always as identity,
  topic text not null,
  model_no integer not null,
  endpoint_no integer,
  effective_at timestamp with time zone not null,
  summary text not null,
  created_at timestamp with time zone not null,
  announced_through text default ''::text,
  withdrawal_no integer,
  constraint news_pkey PRIMARY KEY (news_no),
  constraint withdrawal_told_once UNIQUE (withdrawal_no),
  constraint news_summary_check CHECK (((char_length(summary) >= 1) AND (char_length(summary) <= 500))),
  constraint news_topic_check CHECK ((topic = ANY (ARRAY['model.price_changed'::text, 'model.deprecated'::text]))),
  constraint news_endpoint_no_fkey FOREIGN KEY (endpoint_no) REFERENCES catalog.endpoint(endpoint_no),
  constraint news_model_no_fkey FOREIGN KEY (model_no) REFERENCES catalog.model(model_no),
  constraint news_withdrawal_no_fkey FOREIGN KEY (withdrawal_no) REFERENCES catalog.withdrawal(withdrawal_no)
);
CREATE INDEX news_untold ON catalog.news USING btree (news_no) WHERE (announced_through IS NOT NULL);
grant insert, select on catalog.news to svc_runtime;
grant update (announced_through) on catalog.news to svc_runtime;

create table catalog.offered (
  endpoint_no integer not null,
  model_no integer not null,
  constraint offered_pkey PRIMARY KEY (endpoint_no),
  constraint offered_endpoint_no_fkey FOREIGN KEY (endpoint_no) REFERENCES catalog.endpoint(endpoint_no),
  constraint offered_model_no_fkey FOREIGN KEY (model_no) REFERENCES catalog.model(model_no)
);
grant delete, insert, select on catalog.offered to svc_runtime;

create table catalog.price_history (
  history_no integer not null generated always as identity,
  endpoint_no integer not null,
  use text not null,
  price_no integer not null,
  effective_from timestamp with time zone not null,
  constraint price_history_pkey PRIMARY KEY (history_no),
  constraint price_history_endpoint_no_fkey FOREIGN KEY (endpoint_no) REFERENCES catalog.endpoint(endpoint_no),
  constraint price_history_price_no_fkey FOREIGN KEY (price_no) REFERENCES catalog.price_version(price_no)
);
CREATE INDEX price_history_of_endpoint ON catalog.price_history USING btree (endpoint_no, use, history_no);
CREATE TRIGGER price_history_is_never_changed BEFORE DELETE OR UPDATE OR TRUNCATE ON catalog.price_history FOR EACH STATEMENT EXECUTE FUNCTION catalog.refuse_change();
grant insert, select on catalog.price_history to svc_runtime;

create table catalog.price_version (
  price_no integer not null generated always as identity,
  id text not null,
  endpoint_no integer not null,
  use text not null,
  content jsonb not null,
  created_at timestamp with time zone not null,
  constraint price_version_pkey PRIMARY KEY (price_no),
  constraint price_id_once UNIQUE (id),
  constraint price_version_endpoint_no_fkey FOREIGN KEY (endpoint_no) REFERENCES catalog.endpoint(endpoint_no)
);
CREATE INDEX price_version_of_endpoint ON catalog.price_version USING btree (endpoint_no);
CREATE TRIGGER price_version_is_never_changed BEFORE DELETE OR UPDATE OR TRUNCATE ON catalog.price_version FOR EACH STATEMENT EXECUTE FUNCTION catalog.refuse_change();
grant insert, select on catalog.price_version to svc_runtime;

create table catalog.set_price (
  set_no integer not null generated always as identity,
  endpoint_no integer not null,
  from_day date not null,
  prices jsonb not null,
  replaces text not null,
  approval_id text not null,
  set_at timestamp with time zone not null,
  constraint set_price_pkey PRIMARY KEY (set_no),
  constraint set_price_once_per_approval UNIQUE (approval_id),
  constraint set_price_replaces_check CHECK ((replaces ~ '^[0-9a-f]{64}$'::text)),
  constraint set_price_approval_id_fkey FOREIGN KEY (approval_id) REFERENCES approval(id),
  constraint set_price_endpoint_no_fkey FOREIGN KEY (endpoint_no) REFERENCES catalog.endpoint(endpoint_no)
);
CREATE INDEX set_price_of_endpoint ON catalog.set_price USING btree (endpoint_no, from_day, set_no);
CREATE TRIGGER set_price_is_never_changed BEFORE DELETE OR UPDATE OR TRUNCATE ON catalog.set_price FOR EACH STATEMENT EXECUTE FUNCTION catalog.refuse_change();
grant insert, select on catalog.set_price to svc_runtime;

create table catalog.withdrawal (
  withdrawal_no integer not null generated always as identity,
  model_no integer not null,
  endpoint_no integer,
  left_at timestamp with time zone not null,
  returned_at timestamp with time zone,
  after_retirement boolean not null,
  constraint withdrawal_pkey PRIMARY KEY (withdrawal_no),
  constraint withdrawal_returns_after_it_left CHECK ((returned_at > left_at)),
  constraint withdrawal_endpoint_no_fkey FOREIGN KEY (endpoint_no) REFERENCES catalog.endpoint(endpoint_no),
  constraint withdrawal_model_no_fkey FOREIGN KEY (model_no) REFERENCES catalog.model(model_no)
);
CREATE UNIQUE INDEX withdrawal_is_open_once ON catalog.withdrawal USING btree (model_no, endpoint_no) NULLS NOT DISTINCT WHERE (returned_at IS NULL);
CREATE INDEX withdrawal_of_model ON catalog.withdrawal USING btree (model_no, left_at);
grant delete, insert, select on catalog.withdrawal to svc_runtime;
grant update (returned_at) on catalog.withdrawal to svc_runtime;

create table ledger.block (
  book_id bigint not null,
  block_no bigint not null,
  first_seq bigint not null,
  entries integer not null,
  meters integer not null,
  created_at timestamp with time zone not null,
  hash bytea not null,
  constraint one_block_per_number PRIMARY KEY (book_id, block_no),
  constraint block_is_not_empty CHECK (((entries >= 0) AND (meters >= 0) AND ((entries + meters) > 0)))
);
grant select on ledger.block to svc_runtime;

create table ledger.book (
  book_id bigint not null,
  org_id text not null,
  environment smallint not null,
  available bigint not null default 0,
  held bigint not null default 0,
  granted bigint not null default 0,
  seq bigint not null default 0,
  block_no bigint not null default 0,
  head bytea not null default decode(repeat('00'::text, 32), 'hex'::text),
  last_at timestamp with time zone not null default '-infinity'::timestamp with time zone,
  current_lot_no bigint,
  low_mark bigint,
  exhausted_on date,
  constraint book_pkey PRIMARY KEY (book_id),
  constraint one_book_per_org_and_environment UNIQUE (org_id, environment),
  constraint available_never_negative CHECK ((available >= 0)),
  constraint environment_is_live_or_test CHECK ((environment = ANY (ARRAY[1, 2]))),
  constraint granted_is_part_of_the_balance CHECK (((granted >= 0) AND (granted <= (available + held)))),
  constraint held_never_negative CHECK ((held >= 0))
) with (fillfactor=10, autovacuum_vacuum_threshold=2000, autovacuum_vacuum_scale_factor=0);
grant select on ledger.book to svc_runtime;

create table ledger.budget (
  kind smallint not null,
  subject integer not null,
  book_id bigint not null,
  cap bigint,
  hard boolean not null default true,
  alerts smallint[] not null default '{50,80,100}'::smallint[],
  version bigint not null default 0,
  constraint one_budget_per_subject PRIMARY KEY (kind, subject),
  constraint budget_is_of_key_or_project CHECK ((kind = ANY (ARRAY[1, 2]))),
  constraint cap_never_negative CHECK ((cap >= 0)),
  constraint budget_book_id_fkey FOREIGN KEY (book_id) REFERENCES ledger.book(book_id)
);
grant select on ledger.budget to svc_runtime;

create table ledger.burn (
  lot_no bigint not null,
  from_micro bigint not null,
  to_micro bigint not null,
  book_id bigint not null,
  block_no bigint not null,
  seq bigint,
  constraint burn_starts_once_per_place PRIMARY KEY (lot_no, from_micro),
  constraint burn_range_not_empty CHECK ((to_micro > from_micro)),
  constraint burn_starts_within_lot CHECK ((from_micro >= 0))
);
CREATE INDEX burn_by_entry ON ledger.burn USING btree (book_id, seq) WHERE (seq IS NOT NULL);
grant select on ledger.burn to svc_runtime;

create table ledger.entry (
  book_id bigint not null,
  seq bigint not null,
  amount bigint not null,
  balance_after bigint not null,
  created_at timestamp with time zone not null,
  request_id uuid,
  kind smallint not null,
  ref_type text,
  ref_id text,
  constraint one_entry_per_seq PRIMARY KEY (book_id, seq),
  constraint amount_zero_only_where_written_off CHECK (((amount <> 0) OR (kind = ANY (ARRAY[1, 3, 17, 19])))),
  constraint balance_never_negative CHECK ((balance_after >= 0)),
  constraint entry_kind_is_known CHECK (((kind >= 1) AND (kind <= 21))),
  constraint reference_iff_not_settle CHECK ((((ref_type IS NOT NULL) AND (ref_id IS NOT NULL)) = (kind <> 1))),
  constraint request_id_iff_settle CHECK (((request_id IS NOT NULL) = (kind = 1))),
  constraint settle_never_adds CHECK (((kind <> 1) OR (amount <= 0)))
);
CREATE UNIQUE INDEX entry_moves_once_per_reference ON ledger.entry USING btree (book_id, kind, ref_type, ref_id) WHERE ((ref_id IS NOT NULL) AND (kind <> 16));
CREATE INDEX entry_other_than_settle ON ledger.entry USING btree (book_id, seq) WHERE (kind <> 1);
grant select on ledger.entry to svc_runtime;

create table ledger.entry_kind (
  kind smallint not null,
  name text not null,
  constraint entry_kind_pkey PRIMARY KEY (kind),
  constraint entry_kind_name_key UNIQUE (name)
);
grant select on ledger.entry_kind to svc_runtime;

create table ledger.hold (
  hold_id uuid not null,
  book_id bigint not null,
  amount bigint not null,
  key_no integer not null,
  project_no integer not null,
  lease_id bigint not null,
  run uuid,
  constraint hold_pkey PRIMARY KEY (hold_id),
  constraint hold_never_negative CHECK ((amount >= 0))
) with (fillfactor=95, autovacuum_vacuum_threshold=50000, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_cost_delay=0);
grant select on ledger.hold to svc_runtime;

create table ledger.idempotency (
  scope text not null,
  key_hash bytea not null,
  fingerprint bytea not null,
  request_id uuid not null,
  book_id bigint not null,
  lease_id bigint not null,
  state text not null default 'running'::text,
  created_at timestamp with time zone not null,
  ended_at timestamp with time zone,
  cost bigint,
  http_status smallint,
  sealed_answer bytea,
  constraint one_claim_per_key PRIMARY KEY (scope, key_hash),
  constraint idempotency_request_id_key UNIQUE (request_id),
  constraint claim_ended_iff_not_running CHECK (((ended_at IS NOT NULL) = (state <> 'running'::text))),
  constraint claim_state_is_known CHECK ((state = ANY (ARRAY['running'::text, 'lost'::text, 'done'::text])))
);
CREATE INDEX idempotency_ended ON ledger.idempotency USING btree (ended_at) WHERE (state = 'done'::text);
CREATE INDEX idempotency_lost ON ledger.idempotency USING btree (ended_at) WHERE (state = 'lost'::text);
grant delete, insert, select, update on ledger.idempotency to svc_runtime;

create table ledger.lease (
  lease_id bigint not null generated always as identity,
  process text not null,
  seconds integer not null,
  expires_at timestamp with time zone not null,
  places text[],
  constraint lease_pkey PRIMARY KEY (lease_id),
  constraint lease_has_a_length CHECK ((seconds > 0))
) with (fillfactor=10);
grant delete, insert, select, update on ledger.lease to svc_runtime;

create table ledger.lot (
  lot_no bigint not null generated always as identity,
  lot_id text not null,
  book_id bigint not null,
  seq bigint not null,
  is_grant boolean not null,
  expires_at timestamp with time zone not null default 'infinity'::timestamp with time zone,
  created_at timestamp with time zone not null,
  amount bigint not null,
  burned bigint not null default 0,
  is_open boolean not null default true,
  origin_seq bigint not null,
  constraint lot_pkey PRIMARY KEY (lot_no),
  constraint lot_lot_id_key UNIQUE (lot_id),
  constraint one_lot_per_entry_and_origin UNIQUE (book_id, seq, origin_seq),
  constraint burned_within_lot CHECK (((burned >= 0) AND (burned <= amount))),
  constraint lot_amount_positive CHECK ((amount > 0)),
  constraint lot_is_open_iff_something_is_left CHECK ((is_open = (burned < amount))),
  constraint origin_is_no_later_entry CHECK ((origin_seq <= seq)),
  constraint lot_book_id_fkey FOREIGN KEY (book_id) REFERENCES ledger.book(book_id)
) with (fillfactor=20, autovacuum_vacuum_threshold=2000, autovacuum_vacuum_scale_factor=0);
CREATE INDEX lot_burn_order ON ledger.lot USING btree (book_id, expires_at, is_grant DESC, origin_seq, seq) WHERE is_open;
CREATE INDEX lot_expiring ON ledger.lot USING btree (expires_at) WHERE (is_open AND (expires_at < 'infinity'::timestamp with time zone));
grant select on ledger.lot to svc_runtime;

create table ledger.meter (
  request_id uuid not null,
  book_id bigint not null,
  block_no bigint not null,
  seq bigint,
  cost bigint not null,
  key_no integer not null,
  project_no integer not null,
  model_no integer not null,
  endpoint_no integer not null,
  price_no integer not null,
  input_tokens integer not null,
  output_tokens integer not null,
  cache_read_tokens integer not null,
  cache_write_tokens integer not null,
  cache_write_5m_tokens integer not null,
  cache_write_1h_tokens integer not null,
  reasoning_tokens integer not null,
  outcome smallint not null,
  estimated boolean not null,
  other_units integer[],
  run uuid,
  constraint request_is_metered_once PRIMARY KEY (request_id),
  constraint entry_iff_it_cost_something CHECK (((seq IS NOT NULL) = (cost > 0))),
  constraint metered_cost_never_negative CHECK ((cost >= 0)),
  constraint other_units_are_known CHECK (((other_units IS NULL) OR ledger.units_are_known(other_units))),
  constraint outcome_is_known CHECK (((outcome >= 0) AND (outcome <= 2)))
) partition by RANGE (request_id);
grant select on ledger.meter to svc_runtime;

create table ledger.meter_default partition of ledger.meter DEFAULT;
grant select on ledger.meter_default to svc_runtime;

create table ledger.move_mark (
  mark text not null,
  constraint move_mark_pkey PRIMARY KEY (mark)
);

create table ledger.moved (
  one boolean not null default true,
  place text not null,
  at timestamp with time zone not null,
  constraint moved_pkey PRIMARY KEY (one),
  constraint moved_once CHECK (one)
);
grant select on ledger.moved to svc_runtime;

create table ledger.outbox (
  outbox_id bigint not null generated always as identity,
  org_id text not null,
  topic text not null,
  payload jsonb not null,
  created_at timestamp with time zone not null,
  constraint outbox_pkey PRIMARY KEY (outbox_id)
);
grant delete, select, update on ledger.outbox to svc_runtime;

create table ledger.run (
  book_id bigint not null,
  run uuid not null,
  cap bigint not null,
  spent bigint not null default 0,
  held bigint not null default 0,
  after_block bigint not null,
  used_at timestamp with time zone not null,
  constraint one_row_per_run PRIMARY KEY (book_id, run),
  constraint run_cap_never_negative CHECK ((cap >= 0)),
  constraint run_held_never_negative CHECK ((held >= 0)),
  constraint run_spent_never_negative CHECK ((spent >= 0))
) with (fillfactor=50);
CREATE INDEX run_by_use ON ledger.run USING btree (used_at);
grant select on ledger.run to svc_runtime;

create table ledger.sweeping (
  one boolean not null default true,
  timeline text,
  ran_at timestamp with time zone,
  steady_since timestamp with time zone not null default '-infinity'::timestamp with time zone,
  constraint sweeping_pkey PRIMARY KEY (one),
  constraint sweeping_is_one_row CHECK (one)
);
grant select on ledger.sweeping to svc_runtime;

create table ledger.unit_kind (
  kind smallint not null,
  name text not null,
  constraint unit_kind_pkey PRIMARY KEY (kind),
  constraint unit_kind_name_key UNIQUE (name)
);
grant select on ledger.unit_kind to svc_runtime;

create table ledger.win (
  kind smallint not null,
  subject integer not null,
  start date not null,
  book_id bigint not null,
  cap bigint,
  hard boolean not null,
  alerted smallint not null default 0,
  next_alert bigint,
  exhausted_at timestamp with time zone,
  spent bigint not null default 0,
  held bigint not null default 0,
  constraint one_window_per_subject_and_start PRIMARY KEY (kind, subject, start),
  constraint window_held_never_negative CHECK ((held >= 0)),
  constraint window_spent_never_negative CHECK ((spent >= 0))
) with (fillfactor=10, autovacuum_vacuum_threshold=2000, autovacuum_vacuum_scale_factor=0);
CREATE INDEX win_by_book ON ledger.win USING btree (book_id);
grant select on ledger.win to svc_runtime;

create table ledger.writeoff (
  book_id bigint not null,
  seq bigint not null,
  amount bigint not null,
  request_id uuid,
  constraint one_writeoff_per_entry PRIMARY KEY (book_id, seq),
  constraint writeoff_request_id_key UNIQUE (request_id),
  constraint writeoff_positive CHECK ((amount > 0))
);
grant select on ledger.writeoff to svc_runtime;

create table public.access_request (
  id text not null,
  email text not null,
  email_key text not null,
  name text not null,
  company text not null,
  job_title text not null,
  country text not null,
  website text not null,
  use_case text not null,
  monthly_spend text not null,
  status text not null default 'received'::text,
  reviewed_by text,
  hash bytea,
  mails integer not null default 0,
  expires_at timestamp with time zone,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint access_request_pkey PRIMARY KEY (id),
  constraint access_request_hash_once UNIQUE (hash),
  constraint access_request_once_per_address UNIQUE (email_key),
  constraint access_request_approved_has_link CHECK ((((status = 'approved'::text) = (hash IS NOT NULL)) AND ((status = 'approved'::text) = (expires_at IS NOT NULL)))),
  constraint access_request_decided_by_somebody CHECK (((status = 'received'::text) OR (reviewed_by IS NOT NULL))),
  constraint access_request_email_check CHECK (((char_length(email) >= 3) AND (char_length(email) <= 254))),
  constraint access_request_hash_check CHECK ((octet_length(hash) = 32)),
  constraint access_request_id_check CHECK ((id ~ '^acr_[0-9A-HJKMNP-TV-Z]{26}$'::text)),
  constraint access_request_mails_check CHECK ((mails >= 0)),
  constraint access_request_name_check CHECK (((char_length(name) >= 1) AND (char_length(name) <= 120))),
  constraint access_request_status_check CHECK ((status = ANY (ARRAY['received'::text, 'approved'::text, 'declined'::text, 'activated'::text])))
);
CREATE INDEX access_request_waiting ON public.access_request USING btree (created_at, id) WHERE (status = 'received'::text);
grant delete, insert, select, update on public.access_request to svc_runtime;

create table public.acme_account (
  directory_url text not null,
  account_url text,
  private_key bytea not null,
  paused_until timestamp with time zone,
  created_at timestamp with time zone not null,
  constraint acme_account_pkey PRIMARY KEY (directory_url),
  constraint acme_account_account_url_check CHECK ((char_length(account_url) <= 2048)),
  constraint acme_account_directory_url_check CHECK ((char_length(directory_url) <= 2048))
);
grant delete, insert, select, update on public.acme_account to svc_runtime;

create table public.announcement (
  id text not null,
  title text not null,
  body text not null,
  severity text not null,
  audience text not null,
  audience_values text[] not null default '{}'::text[],
  starts_at timestamp with time zone not null,
  ends_at timestamp with time zone,
  created_by text not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint announcement_pkey PRIMARY KEY (id),
  constraint announcement_audience_check CHECK ((audience = ANY (ARRAY['all'::text, 'plans'::text, 'countries'::text, 'resellers'::text, 'orgs'::text]))),
  constraint announcement_body_check CHECK (((char_length(body) >= 1) AND (char_length(body) <= 10000))),
  constraint announcement_ends_after_it_starts CHECK ((ends_at >= starts_at)),
  constraint announcement_id_check CHECK ((id ~ '^ann_[0-9A-HJKMNP-TV-Z]{26}$'::text)),
  constraint announcement_severity_check CHECK ((severity = ANY (ARRAY['info'::text, 'warning'::text, 'critical'::text]))),
  constraint announcement_title_check CHECK (((char_length(title) >= 1) AND (char_length(title) <= 120))),
  constraint announcement_values_where_asked CHECK (((audience = ANY (ARRAY['all'::text, 'resellers'::text])) = (cardinality(audience_values) = 0)))
);
CREATE INDEX announcement_running ON public.announcement USING btree (ends_at, starts_at);
CREATE INDEX announcement_walk ON public.announcement USING btree (created_at DESC, id DESC);
grant insert, select, update on public.announcement to svc_runtime;

create table public.api_key (
  id text not null,
  key_no integer not null,
  chain_no integer not null,
  org_id text not null,
  project_id text not null,
  environment text not null,
  name text not null,
  hash bytea not null,
  hint text not null,
  scopes text[] not null,
  status text not null default 'active'::text,
  rpm integer,
  tpm integer,
  concurrency integer,
  budget_daily_micro bigint,
  budget_hard boolean not null default true,
  alerts integer[] not null default '{50,80,100}'::integer[],
  svc_version text not null,
  data_policy jsonb,
  created_by text,
  managed_by text,
  rotated_from text,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  last_used_at timestamp with time zone,
  expires_at timestamp with time zone,
  revoked_at timestamp with time zone,
  blocked_at timestamp with time zone,
  constraint api_key_pkey PRIMARY KEY (id),
  constraint api_key_hash_once UNIQUE (hash),
  constraint api_key_key_no_key UNIQUE (key_no),
  constraint api_key_rotated_once UNIQUE (rotated_from),
  constraint api_key_budget_daily_micro_check CHECK ((budget_daily_micro >= 0)),
  constraint api_key_concurrency_check CHECK ((concurrency > 0)),
  constraint api_key_environment_check CHECK ((environment = ANY (ARRAY['live'::text, 'test'::text]))),
  constraint api_key_hash_check CHECK ((octet_length(hash) = 32)),
  constraint api_key_id_check CHECK ((id ~ '^key_[0-9A-HJKMNP-TV-Z]{26}$'::text)),
  constraint api_key_name_check CHECK (((char_length(name) >= 1) AND (char_length(name) <= 120))),
  constraint api_key_revoked_at_iff_revoked CHECK (((status = 'revoked'::text) = (revoked_at IS NOT NULL))),
  constraint api_key_rotating_ends CHECK (((status <> 'rotating'::text) OR (expires_at IS NOT NULL))),
  constraint api_key_rpm_check CHECK ((rpm > 0)),
  constraint api_key_scopes_check CHECK ((cardinality(scopes) > 0)),
  constraint api_key_status_check CHECK ((status = ANY (ARRAY['active'::text, 'rotating'::text, 'revoked'::text]))),
  constraint api_key_tpm_check CHECK ((tpm > 0)),
  constraint api_key_org_id_fkey FOREIGN KEY (org_id) REFERENCES org(id),
  constraint api_key_project_id_fkey FOREIGN KEY (project_id) REFERENCES project(id),
  constraint api_key_rotated_from_fkey FOREIGN KEY (rotated_from) REFERENCES api_key(id)
);
CREATE INDEX api_key_chain ON public.api_key USING btree (chain_no);
CREATE INDEX api_key_ending ON public.api_key USING btree (expires_at) WHERE (status = 'active'::text);
CREATE INDEX api_key_managed ON public.api_key USING btree (org_id, managed_by, created_at DESC) WHERE (managed_by IS NOT NULL);
CREATE INDEX api_key_of_person ON public.api_key USING btree (org_id, created_by) WHERE ((created_by IS NOT NULL) AND (status <> 'revoked'::text));
CREATE INDEX api_key_project ON public.api_key USING btree (project_id);
CREATE INDEX api_key_walk ON public.api_key USING btree (org_id, created_at DESC, id DESC);
CREATE TRIGGER api_key_announces AFTER INSERT OR UPDATE OF status, scopes, rpm, tpm, concurrency, expires_at, svc_version, data_policy, hash, blocked_at ON public.api_key FOR EACH ROW EXECUTE FUNCTION announce_grant_change();
alter table public.api_key enable row level security;
create policy everybody on public.api_key as permissive for all to public using (true) with check (true);
create policy own_org on public.api_key as restrictive for all to svc_tenant using ((org_id = current_setting('svc.org_id'::text, true))) with check ((org_id = current_setting('svc.org_id'::text, true)));
grant delete, insert, select, update on public.api_key to svc_runtime;

create table public.app (
  slug text not null,
  org_id text not null,
  name text not null,
  category text,
  url text,
  public boolean not null default false,
  first_seen_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  excluded_at timestamp with time zone,
  excluded_reason text,
  constraint app_pkey PRIMARY KEY (slug),
  constraint app_category_check CHECK (((char_length(category) >= 1) AND (char_length(category) <= 40))),
  constraint app_excluded_reason_check CHECK (((char_length(excluded_reason) >= 1) AND (char_length(excluded_reason) <= 500))),
  constraint app_is_excluded_for_a_reason CHECK (((excluded_at IS NULL) = (excluded_reason IS NULL))),
  constraint app_name_check CHECK (((char_length(name) >= 1) AND (char_length(name) <= 120))),
  constraint app_slug_is_one CHECK ((slug ~ '^[a-z0-9-]{1,64}$'::text)),
  constraint app_url_check CHECK (((url ~ '^https?://'::text) AND (char_length(url) <= 2048))),
  constraint app_org_id_fkey FOREIGN KEY (org_id) REFERENCES org(id)
);
CREATE INDEX app_of_org ON public.app USING btree (org_id, slug);
alter table public.app enable row level security;
create policy everybody on public.app as permissive for all to public using (true) with check (true);
create policy own_org on public.app as restrictive for all to svc_tenant using ((org_id = current_setting('svc.org_id'::text, true))) with check ((org_id = current_setting('svc.org_id'::text, true)));
grant delete, insert, select, update on public.app to svc_runtime;

create table public.app_day (
  day date not null,
  org_id text not null,
  app_id text not null,
  model text not null,
  requests bigint not null,
  tokens bigint not null,
  first_at timestamp with time zone not null,
  constraint app_day_pkey PRIMARY KEY (day, org_id, app_id, model)
);
CREATE INDEX app_day_of_app ON public.app_day USING btree (org_id, app_id, day);
CREATE INDEX app_day_of_model ON public.app_day USING btree (model, day);
alter table public.app_day enable row level security;
create policy everybody on public.app_day as permissive for all to public using (true) with check (true);
create policy own_org on public.app_day as restrictive for all to svc_tenant using ((org_id = current_setting('svc.org_id'::text, true))) with check ((org_id = current_setting('svc.org_id'::text, true)));
grant delete, insert, select, update on public.app_day to svc_runtime;

create table public.app_window (
  org_id text not null,
  app_id text not null,
  days integer not null,
  models jsonb not null,
  constraint app_window_pkey PRIMARY KEY (org_id, app_id, days),
  constraint app_window_days_fkey FOREIGN KEY (days) REFERENCES ranked_window(days)
);
CREATE INDEX app_window_of_days ON public.app_window USING btree (days);
alter table public.app_window enable row level security;
create policy everybody on public.app_window as permissive for all to public using (true) with check (true);
create policy own_org on public.app_window as restrictive for all to svc_tenant using ((org_id = current_setting('svc.org_id'::text, true))) with check ((org_id = current_setting('svc.org_id'::text, true)));
grant delete, insert, select, update on public.app_window to svc_runtime;

create table public.approval (
  id text not null,
  action text not null,
  input jsonb not null,
  input_hash bytea not null,
  org_id text,
  amount_micro_usd bigint,
  reason text not null,
  status text not null,
  asked_by text not null,
  asked_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  decided_by text,
  decided_at timestamp with time zone,
  note text,
  constraint approval_pkey PRIMARY KEY (id),
  constraint approval_amount_micro_usd_check CHECK ((amount_micro_usd > 0)),
  constraint approval_by_another CHECK (((status <> 'approved'::text) OR (decided_by <> asked_by))),
  constraint approval_check CHECK ((expires_at > asked_at)),
  constraint approval_decided CHECK ((((status = 'pending'::text) = (decided_by IS NULL)) AND ((status = 'pending'::text) = (decided_at IS NULL)))),
  constraint approval_id_check CHECK ((id ~~ 'apr\_%'::text)),
  constraint approval_input_hash_check CHECK ((octet_length(input_hash) = 32)),
  constraint approval_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'approved'::text, 'refused'::text, 'withdrawn'::text]))),
  constraint approval_withdrawn_by_asker CHECK (((status <> 'withdrawn'::text) OR (decided_by = asked_by))),
  constraint approval_asked_by_fkey FOREIGN KEY (asked_by) REFERENCES staff(id),
  constraint approval_decided_by_fkey FOREIGN KEY (decided_by) REFERENCES staff(id),
  constraint approval_org_id_fkey FOREIGN KEY (org_id) REFERENCES org(id)
);
CREATE UNIQUE INDEX approval_asked_once ON public.approval USING btree (action, input_hash) WHERE (status = 'pending'::text);
CREATE INDEX approval_newest ON public.approval USING btree (asked_at DESC, id DESC);
alter table public.approval enable row level security;
create policy everybody on public.approval as permissive for all to public using (true) with check (true);
create policy own_org on public.approval as restrictive for all to svc_tenant using ((org_id = current_setting('svc.org_id'::text, true))) with check ((org_id = current_setting('svc.org_id'::text, true)));
grant delete, insert, select, update on public.approval to svc_runtime;

create table public.audit_chain (
  org_id text not null,
  day date not null,
  chain_seq integer not null,
  hash bytea not null,
  constraint audit_chain_pkey PRIMARY KEY (org_id, day)
);
CREATE INDEX audit_chain_by_day ON public.audit_chain USING btree (day);
alter table public.audit_chain enable row level security;
create policy everybody on public.audit_chain as permissive for all to public using (true) with check (true);
create policy own_org on public.audit_chain as restrictive for all to svc_tenant using ((org_id = current_setting('svc.org_id'::text, true))) with check ((org_id = current_setting('svc.org_id'::text, true)));
grant insert, select, update on public.audit_chain to svc_runtime;

create table public.audit_entry (
  id bigint not null generated always as identity,
  org_id text not null,
  day date not null,
  chain_seq integer not null,
  at timestamp with time zone not null,
  actor_type text not null,
  actor_id text,
  actor_display text not null,
  action text not null,
  target_type text,
  target_id text,
  target_display text,
  before jsonb,
  after jsonb,
  reason text,
  ip_prefix text,
  user_agent text,
  request_id text,
  outcome text not null,
  prev_hash bytea not null,
  hash bytea not null,
  redacted_hash bytea,
  constraint audit_entry_pkey PRIMARY KEY (id),
  constraint audit_entry_place_once UNIQUE (org_id, day, chain_seq),
  constraint audit_entry_actor_type_check CHECK ((actor_type = ANY (ARRAY['user'::text, 'key'::text, 'staff'::text, 'scim'::text, 'system'::text, 'operator'::text]))),
  constraint audit_entry_hash_check CHECK ((octet_length(hash) = 32)),
  constraint audit_entry_outcome_check CHECK ((outcome = ANY (ARRAY['ok'::text, 'denied'::text]))),
  constraint audit_entry_prev_hash_check CHECK ((octet_length(prev_hash) = 32)),
  constraint audit_entry_redacted_hash_check CHECK ((octet_length(redacted_hash) = 32))
);
CREATE INDEX audit_entry_walk ON public.audit_entry USING btree (org_id, id DESC);
CREATE TRIGGER audit_entry_is_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON public.audit_entry FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change();
alter table public.audit_entry enable row level security;
create policy everybody on public.audit_entry as permissive for all to public using (true) with check (true);
create policy own_org on public.audit_entry as restrictive for all to svc_tenant using ((org_id = current_setting('svc.org_id'::text, true))) with check ((org_id = current_setting('svc.org_id'::text, true)));
grant insert, select on public.audit_entry to svc_runtime;

create table public.auto_topup (
  org_id text not null,
  enabled boolean not null,
  threshold_micro bigint not null,
  amount_minor bigint not null,
  attempts integer not null default 0,
  disabled_reason text,
  blocked_reason text,
  blocked_at timestamp with time zone,
  blocked_until timestamp with time zone,
  updated_at timestamp with time zone not null,
  constraint auto_topup_pkey PRIMARY KEY (org_id),
  constraint auto_topup_amount_minor_check CHECK ((amount_minor > 0)),
  constraint auto_topup_block_has_a_time CHECK (((blocked_reason IS NULL) = (blocked_at IS NULL))),
  constraint auto_topup_threshold_micro_check CHECK ((threshold_micro > 0)),
  constraint auto_topup_org_id_fkey FOREIGN KEY (org_id) REFERENCES org(id)
);
CREATE INDEX auto_topup_enabled ON public.auto_topup USING btree (org_id) WHERE enabled;
alter table public.auto_topup enable row level security;
create policy everybody on public.auto_topup as permissive for all to public using (true) with check (true);
create policy own_org on public.auto_topup as restrictive for all to svc_tenant using ((org_id = current_setting('svc.org_id'::text, true))) with check ((org_id = current_setting('svc.org_id'::text, true)));
grant insert, select, update on public.auto_topup to svc_runtime;

create table public.auto_topup_attempt (
  org_id text not null,
  attempt_no integer not null,
  mandate_id text not null,
  topup_id text not null,
  status text not null,
  created_at timestamp with time zone not null,
  notified_at timestamp with time zone,
  notice_failed boolean not null default false,
  due_at timestamp with time zone,
  skipped_at timestamp with time zone,
  sent_at timestamp with time zone,
  ended_at timestamp with time zone,
  constraint auto_topup_attempt_pkey PRIMARY KEY (org_id, attempt_no),
  constraint auto_topup_attempt_topup_id_key UNIQUE (topup_id),
  constraint attempt_ended_iff_over CHECK (((ended_at IS NULL) = (status = ANY (ARRAY['announcing'::text, 'waiting'::text, 'charging'::text])))),
  constraint attempt_sent_after_notice CHECK (((sent_at IS NULL) OR (due_at IS NOT NULL))),
  constraint auto_topup_attempt_attempt_no_check CHECK ((attempt_no > 0)),
  constraint auto_topup_attempt_status_check CHECK ((status = ANY (ARRAY['announcing'::text, 'waiting'::text, 'charging'::text, 'succeeded'::text, 'failed'::text, 'skipped'::text, 'not_needed'::text]))),
  constraint auto_topup_attempt_mandate_id_fkey FOREIGN KEY (mandate_id) REFERENCES mandate(id),
  constraint auto_topup_attempt_org_id_fkey FOREIGN KEY (org_id) REFERENCES auto_topup(org_id),
  constraint auto_topup_attempt_topup_id_fkey FOREIGN KEY (topup_id) REFERENCES topup(id)
);
CREATE UNIQUE INDEX auto_topup_one_at_a_time ON public.auto_topup_attempt USING btree (org_id) WHERE (ended_at IS NULL);
alter table public.auto_topup_attempt enable row level security;
create policy everybody on public.auto_topup_attempt as permissive for all to public using (true) with check (true);
create policy own_org on public.auto_topup_attempt as restrictive for all to svc_tenant using ((org_id = current_setting('svc.org_id'::text, true))) with check ((org_id = current_setting('svc.org_id'::text, true)));
grant insert, select, update on public.auto_topup_attempt to svc_runtime;

create table public.byok_change (
  xid xid8 not null default pg_current_xact_id(),
  org_id text not null,
  at timestamp with time zone not null default clock_timestamp()
);
CREATE INDEX byok_change_xid ON public.byok_change USING btree (xid);
alter table public.byok_change enable row level security;
create policy everybody on public.byok_change as permissive for all to public using (true) with check (true);
create policy own_org on public.byok_change as restrictive for all to svc_tenant using ((org_id = current_setting('svc.org_id'::text, true))) with check ((org_id = current_setting('svc.org_id'::text, true)));
grant delete, insert, select, update on public.byok_change to svc_runtime;

create table public.byok_key (
  id text not null,
  org_id text not null,
  provider_id text not null,
  label text not null,
  secret_sealed bytea not null,
  hint text not null,
  status text not null default 'active'::text,
  fallback_to_pool boolean not null,
  created_by text,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  last_used_at timestamp with time zone,
  validated_at timestamp with time zone,
  constraint byok_key_pkey PRIMARY KEY (id),
  constraint byok_label_is_unique UNIQUE (org_id, provider_id, label),
  constraint byok_key_id_check CHECK ((id ~ '^byok_[0-9A-HJKMNP-TV-Z]{26}$'::text)),
  constraint byok_key_label_check CHECK ((char_length(label) <= 64)),
  constraint byok_key_status_check CHECK ((status = ANY (ARRAY['active'::text, 'rejected'::text]))),
  constraint byok_key_org_id_fkey FOREIGN KEY (org_id) REFERENCES org(id)
);
CREATE TRIGGER byok_key_announces AFTER INSERT OR DELETE OR UPDATE OF secret_sealed, hint, fallback_to_pool ON public.byok_key FOR EACH ROW EXECUTE FUNCTION announce_byok_change();
alter table public.byok_key enable row level security;
create policy everybody on public.byok_key as permissive for all to public using (true) with check (true);
create policy own_org on public.byok_key as restrictive for all to svc_tenant using ((org_id = current_setting('svc.org_id'::text, true))) with check ((org_id = current_setting('svc.org_id'::text, true)));
grant delete, insert, select, update on public.byok_key to svc_runtime;

create table public.canary (
  org_id text not null,
  name text not null,
  version integer not null,
  endpoint_id text not null,
  state text not null,
  reason text not null,
  p_value double precision not null,
  started_at timestamp with time zone not null,
  canary_at timestamp with time zone,
  control_at timestamp with time zone,
  evaluated_at timestamp with time zone not null,
  constraint canary_pkey PRIMARY KEY (org_id, name, version, endpoint_id),
  constraint canary_p_value_check CHECK (((p_value >= (0)::double precision) AND (p_value <= (1)::double precision))),
  constraint canary_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'green'::text, 'red'::text]))),
  constraint canary_org_id_name_version_fkey FOREIGN KEY (org_id, name, version) REFERENCES policy_version(org_id, name, version) ON DELETE CASCADE
);
alter table public.canary enable row level security;
create policy everybody on public.canary as permissive for all to public using (true) with check (true);
create policy own_org on public.canary as restrictive for all to svc_tenant using ((org_id = current_setting('svc.org_id'::text, true))) with check ((org_id = current_setting('svc.org_id'::text, true)));
grant delete, insert, select, update on public.canary to svc_runtime;

create table public.canary_sample (
  org_id text not null,
  name text not null,
  version integer not null,
  endpoint_id text not null,
  canary_calls integer not null,
  canary_errors integer not null,
  control_calls integer not null,
  control_errors integer not null
);
alter table public.canary_sample enable row level security;
create policy everybody on public.canary_sample as permissive for all to public using (true) with check (true);
create policy own_org on public.canary_sample as restrictive for all to svc_tenant using ((org_id = current_setting('svc.org_id'::text, true))) with check ((org_id = current_setting('svc.org_id'::text, true)));
grant delete, insert, select, update on public.canary_sample to svc_runtime;

create table public.canary_window (
  org_id text not null,
  name text not null,
  version integer not null,
  endpoint_id text not null,
  window_no integer not null,
  canary_calls bigint not null,
  canary_errors bigint not null,
  control_calls bigint not null,
  control_errors bigint not null,
  constraint canary_window_pkey PRIMARY KEY (org_id, name, version, endpoint_id, window_no),
  constraint canary_window_window_no_check CHECK ((window_no >= 0)),
  constraint canary_window_org_id_name_version_endpoint_id_fkey FOREIGN KEY (org_id, name, version, endpoint_id) REFERENCES canary(org_id, name, version, endpoint_id) ON DELETE CASCADE
);
alter table public.canary_window enable row level security;
create policy everybody on public.canary_window as permissive for all to public using (true) with check (true);
create policy own_org on public.canary_window as restrictive for all to svc_tenant using ((org_id = current_setting('svc.org_id'::text, true))) with check ((org_id = current_setting('svc.org_id'::text, true)));
grant delete, insert, select, update on public.canary_window to svc_runtime;

create table public.certificate_revocation (
  revocation_no bigint not null generated always as identity,
  domain text not null,
  chain text not null,
  not_after timestamp with time zone not null,
  leased_by text,
  leased_until timestamp with time zone,
  next_at timestamp with time zone not null,
  failures integer not null default 0,
  directory_url text,
  constraint certificate_revocation_pkey PRIMARY KEY (revocation_no),
  constraint certificate_revocation_chain_check CHECK ((char_length(chain) <= 65536)),
  constraint certificate_revocation_directory_url_check CHECK ((char_length(directory_url) <= 2048)),
  constraint certificate_revocation_failures_check CHECK ((failures >= 0))
);
CREATE INDEX certificate_revocation_due ON public.certificate_revocation USING btree (next_at);
grant delete, insert, select, update on public.certificate_revocation to svc_runtime;

create table public.checkin (
  org_id text not null,
  day date not null,
  amount_micro_usd bigint not null,
  created_at timestamp with time zone not null,
  constraint checkin_once_a_day PRIMARY KEY (org_id, day),
  constraint checkin_amount_positive CHECK ((amount_micro_usd > 0)),
  constraint checkin_org_id_fkey FOREIGN KEY (org_id) REFERENCES org(id)
);
alter table public.checkin enable row level security;
create policy everybody on public.checkin as permissive for all to public using (true) with check (true);
create policy own_org on public.checkin as restrictive for all to svc_tenant using ((org_id = current_setting('svc.org_id'::text, true))) with check ((org_id = current_setting('svc.org_id'::text, true)));
grant insert, select, update on public.checkin to svc_runtime;

create table public.credit_notice (
  org_id text not null,
  day date not null,
  days integer not null,
  created_at timestamp with time zone not null,
  constraint credit_notice_once PRIMARY KEY (org_id, day, days),
  constraint credit_notice_days_check CHECK ((days > 0)),
  constraint credit_notice_org_id_fkey FOREIGN KEY (org_id) REFERENCES org(id)
);
alter table public.credit_notice enable row level security;
create policy everybody on public.credit_notice as permissive for all to public using (true) with check (true);
create policy own_org on public.credit_notice as restrictive for all to svc_tenant using ((org_id = current_setting('svc.org_id'::text, true))) with check ((org_id = current_setting('svc.org_id'::text, true)));
grant delete, insert, select, update on public.credit_notice to svc_runtime;

create table public.data_subject_request (
  id text not null,
  org_id text not null,
  kind text not null,
  subject_hash text not null,
  status text not null,
  records bigint not null default 0,
  payloads_deleted bigint not null default 0,
  digest text,
  created_at timestamp with time zone not null,
  completed_at timestamp with time zone,
  constraint data_subject_request_pkey PRIMARY KEY (id),
  constraint data_subject_request_completed CHECK (((status = 'completed'::text) = (completed_at IS NOT NULL))),
  constraint data_subject_request_digest CHECK (((digest IS NOT NULL) = ((status = 'completed'::text) AND (kind = 'erasure'::text)))),
  constraint data_subject_request_digest_check CHECK ((digest ~ '^[0-9a-f]{64}$'::text)),
  constraint data_subject_request_id_check CHECK ((id ~ '^dsr_[0-9A-HJKMNP-TV-Z]{26}$'::text)),
  constraint data_subject_request_kind_check CHECK ((kind = ANY (ARRAY['erasure'::text, 'export'::text]))),
  constraint data_subject_request_payloads_deleted_check CHECK ((payloads_deleted >= 0)),
  constraint data_subject_request_records_check CHECK ((records >= 0)),
  constraint data_subject_request_status_check CHECK ((status = ANY (ARRAY['received'::text, 'running'::text, 'completed'::text, 'failed'::text]))),
  constraint data_subject_request_subject_hash_check CHECK ((subject_hash ~ '^[0-9a-f]{64}$'::text)),
  constraint data_subject_request_org_id_fkey FOREIGN KEY (org_id) REFERENCES org(id)
);
CREATE INDEX data_subject_request_walk ON public.data_subject_request USING btree (org_id, created_at DESC, id DESC);
alter table public.data_subject_request enable row level security;
create policy everybody on public.data_subject_request as permissive for all to public using (true) with check (true);
create policy own_org on public.data_subject_request as restrictive for all to svc_tenant using ((org_id = current_setting('svc.org_id'::text, true))) with check ((org_id = current_setting('svc.org_id'::text, true)));
grant delete, insert, select, update on public.data_subject_request to svc_runtime;

create table public.dispute (
  id text not null,
  org_id text not null,
  topup_id text not null,
  book_id bigint not null,
  gateway text not null,
  gateway_ref text not null,
  payment_ref text not null,
  phase text not null,
  reason text not null,
  currency text not null,
  amount_minor bigint not null,
  price_minor bigint not null,
  cgst_minor bigint not null,
  sgst_minor bigint not null,
  igst_minor bigint not null,
  excess_minor bigint not null,
  credits_micro bigint not null,
  written_off_micro bigint,
  status text not null,
  respond_by timestamp with time zone,
  opened_at timestamp with time zone not null,
  closed_at timestamp with time zone,
  updated_at timestamp with time zone not null,
  lifted_at timestamp with time zone,
  paid_at timestamp with time zone,
  constraint dispute_pkey PRIMARY KEY (id),
  constraint dispute_of_rail_once UNIQUE (gateway, gateway_ref),
  constraint dispute_amount_is_the_sum CHECK ((amount_minor = ((((price_minor + cgst_minor) + sgst_minor) + igst_minor) + excess_minor))),
  constraint dispute_amount_minor_check CHECK ((amount_minor > 0)),
  constraint dispute_cgst_minor_check CHECK ((cgst_minor >= 0)),
  constraint dispute_check CHECK (((written_off_micro >= 0) AND (written_off_micro <= credits_micro))),
  constraint dispute_closed_iff_not_open CHECK (((closed_at IS NOT NULL) = (status <> 'open'::text))),
  constraint dispute_credits_micro_check CHECK ((credits_micro >= 0)),
  constraint dispute_currency_check CHECK ((currency ~ '^[A-Z]{3}$'::text)),
  constraint dispute_gateway_check CHECK ((gateway = ANY (ARRAY['rail-a'::text, 'rail-b'::text]))),
  constraint dispute_id_check CHECK ((id ~ '^dsp_[0-9A-HJKMNP-TV-Z]{26}$'::text)),
  constraint dispute_igst_minor_check CHECK ((igst_minor >= 0)),
  constraint dispute_only_a_loss_costs CHECK (((status = 'lost'::text) OR ((written_off_micro IS NULL) AND (lifted_at IS NULL) AND (paid_at IS NULL)))),
  constraint dispute_price_minor_check CHECK ((price_minor >= 0)),
  constraint dispute_sgst_minor_check CHECK ((sgst_minor >= 0)),
  constraint dispute_status_check CHECK ((status = ANY (ARRAY['open'::text, 'won'::text, 'lost'::text]))),
  constraint dispute_org_id_fkey FOREIGN KEY (org_id) REFERENCES org(id),
  constraint dispute_topup_id_fkey FOREIGN KEY (topup_id) REFERENCES topup(id)
);
CREATE INDEX dispute_holds_payments ON public.dispute USING btree (org_id) WHERE ((status = 'open'::text) OR ((status = 'lost'::text) AND (written_off_micro IS DISTINCT FROM 0) AND (paid_at IS NULL)));
CREATE INDEX dispute_of_topup ON public.dispute USING btree (topup_id, opened_at);
CREATE INDEX dispute_unanswered ON public.dispute USING btree (closed_at) WHERE ((status = 'lost'::text) AND (written_off_micro IS NULL));
CREATE INDEX dispute_walk ON public.dispute USING btree (opened_at DESC, id DESC);
alter table public.dispute enable row level security;
create policy everybody on public.dispute as permissive for all to public using (true) with check (true);
create policy own_org on public.dispute as restrictive for all to svc_tenant using ((org_id = current_setting('svc.org_id'::text, true))) with check ((org_id = current_setting('svc.org_id'::text, true)));
grant insert, select, update on public.dispute to svc_runtime;

create table public.email_change (
  user_id text not null,
  email text not null,
  email_key text not null,
  hash bytea not null,
  expires_at timestamp with time zone not null,
  created_at timestamp with time zone not null,
  constraint email_change_pkey PRIMARY KEY (user_id),
  constraint email_change_hash_key UNIQUE (hash),
  constraint email_change_email_check CHECK (((char_length(email) >= 3) AND (char_length(email) <= 254))),
  constraint email_change_user_id_fkey FOREIGN KEY (user_id) REFERENCES person(id) ON DELETE CASCADE
);
grant delete, insert, select, update on public.email_change to svc_runtime;

create table public.endpoint_day (
  day date not null,
  endpoint_id text not null,
  attempts bigint not null,
  ok bigint not null,
  excused bigint not null,
  ttft_p50_ms double precision,
  ttft_p95_ms double precision,
  tpot_p50_ms double precision,
  ttft_counts jsonb not null,
  tpot_counts jsonb not null,
  constraint endpoint_day_pkey PRIMARY KEY (endpoint_id, day),
  constraint endpoint_day_adds_up CHECK (((ok >= 0) AND (excused >= 0) AND ((ok + excused) <= attempts)))
);
grant delete, insert, select, update on public.endpoint_day to svc_runtime;

create table public.erasable_table (
  name text not null,
  constraint erasable_table_pkey PRIMARY KEY (name)
);
grant select on public.erasable_table to svc_runtime;

create table public.erased_call (
  dsr_id text not null,
  request_id text not null,
  constraint erased_call_pkey PRIMARY KEY (dsr_id, request_id),
  constraint erased_call_dsr_id_fkey FOREIGN KEY (dsr_id) REFERENCES data_subject_request(id) ON DELETE CASCADE
);
grant delete, insert, select, update on public.erased_call to svc_runtime;

create table public.erased_content (
  request_id text not null,
  expires_at timestamp with time zone not null,
  constraint erased_content_pkey PRIMARY KEY (request_id)
);
grant delete, insert, select, update on public.erased_content to svc_runtime;

create table public.erasure_tombstone (
  org_id text not null,
  subject_hash text not null,
  erased_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  constraint erasure_tombstone_pkey PRIMARY KEY (org_id, subject_hash),
  constraint erasure_tombstone_org_id_fkey FOREIGN KEY (org_id) REFERENCES org(id)
);
alter table public.erasure_tombstone enable row level security;
create policy everybody on public.erasure_tombstone as permissive for all to public using (true) with check (true);
create policy own_org on public.erasure_tombstone as restrictive for all to svc_tenant using ((org_id = current_setting('svc.org_id'::text, true))) with check ((org_id = current_setting('svc.org_id'::text, true)));
grant delete, insert, select, update on public.erasure_tombstone to svc_runtime;

create table public.eval_call (
  run_id text not null,
  unit_no integer not null,
  sample integer not null,
  reserved_micro bigint not null,
  cost_micro bigint,
  written_off_micro bigint not null default 0,
  error_code text not null default ''::text,
  opened_at timestamp with time zone not null,
  closed_at timestamp with time zone,
  constraint eval_call_pkey PRIMARY KEY (run_id, unit_no, sample),
  constraint eval_call_cost_iff_closed CHECK (((cost_micro IS NULL) = (closed_at IS NULL))),
  constraint eval_call_cost_micro_check CHECK ((cost_micro >= 0)),
  constraint eval_call_costs_no_more CHECK ((cost_micro <= reserved_micro)),
  constraint eval_call_reserved_micro_check CHECK ((reserved_micro >= 0)),
  constraint eval_call_sample_check CHECK (((sample >= 0) AND (sample <= 18))),
  constraint eval_call_unit_no_check CHECK ((unit_no >= 0)),
  constraint eval_call_written_off_micro_check CHECK ((written_off_micro >= 0)),
  constraint eval_call_run_id_fkey FOREIGN KEY (run_id) REFERENCES eval_run(id)
);
grant delete, insert, select, update on public.eval_call to svc_runtime;

create table public.eval_case (
  suite_id text not null,
  revision integer not null,
  case_no integer not null,
  case_id text not null,
  body jsonb not null,
  constraint eval_case_pkey PRIMARY KEY (suite_id, revision, case_no),
  constraint eval_case_id_once UNIQUE (suite_id, revision, case_id),
  constraint eval_case_case_no_check CHECK ((case_no >= 0))
);
grant delete, insert, select, update on public.eval_case to svc_runtime;

create table public.eval_result (
  id bigint not null generated always as identity,
  run_id text not null,
  unit_no integer not null,
  case_no integer not null,
  case_id text not null,
  target_no integer not null,
  repeat_index integer not null,
  weight double precision not null,
  status text not null,
  score double precision not null,
  grades integer not null default 0,
  grades_passed integer not null default 0,
  grader_kind text not null,
  grader_detail jsonb not null,
  output text,
  output_hash text not null,
  request_id text not null,
  judge_request_ids text[] not null default '{}'::text[],
  usage jsonb,
  cost_micro bigint not null,
  ttft_ms double precision,
  duration_ms double precision,
  error_code text not null,
  created_at timestamp with time zone not null,
  constraint eval_result_pkey PRIMARY KEY (id),
  constraint eval_result_once UNIQUE (run_id, unit_no),
  constraint eval_result_cost_micro_check CHECK ((cost_micro >= 0)),
  constraint eval_result_score_check CHECK (((score >= (0)::double precision) AND (score <= (1)::double precision))),
  constraint eval_result_status_check CHECK ((status = ANY (ARRAY['passed'::text, 'failed'::text, 'error'::text, 'skipped'::text]))),
  constraint eval_result_weight_check CHECK ((weight >= (0)::double precision)),
  constraint eval_result_run_id_fkey FOREIGN KEY (run_id) REFERENCES eval_run(id)
);
CREATE INDEX eval_result_case ON public.eval_result USING btree (run_id, case_no, target_no);
grant delete, insert, select, update on public.eval_result to svc_runtime;

create table public.eval_run (
  id text not null,
  org_id text not null,
  project_id text not null,
  environment text not null,
  key_id text,
  key_no integer not null,
  suite_id text not null,
  suite_name text not null,
  suite_revision integer not null,
  case_count integer not null,
  targets jsonb not null,
  repeat integer not null,
  concurrency integer not null,
  judge_model text not null,
  judge_samples integer not null,
  budget_micro bigint not null,
  estimate_micro bigint not null,
  status text not null,
  stop_reason text not null default ''::text,
  spent_micro bigint not null default 0,
  reserved_micro bigint not null default 0,
  written_off_micro bigint not null default 0,
  passed integer not null default 0,
  failed integer not null default 0,
  errors integer not null default 0,
  skipped integer not null default 0,
  score double precision,
  score_low double precision,
  score_high double precision,
  outputs_until timestamp with time zone,
  created_at timestamp with time zone not null,
  started_at timestamp with time zone,
  finished_at timestamp with time zone,
  constraint eval_run_pkey PRIMARY KEY (id),
  constraint eval_run_budget_micro_check CHECK ((budget_micro >= 1)),
  constraint eval_run_case_count_check CHECK ((case_count > 0)),
  constraint eval_run_concurrency_check CHECK (((concurrency >= 1) AND (concurrency <= 16))),
  constraint eval_run_ends_without_calls CHECK (((finished_at IS NULL) OR (reserved_micro = 0))),
  constraint eval_run_environment_check CHECK ((environment = ANY (ARRAY['live'::text, 'test'::text]))),
  constraint eval_run_estimate_micro_check CHECK ((estimate_micro >= 0)),
  constraint eval_run_finished_iff_ended CHECK (((finished_at IS NULL) = (status = ANY (ARRAY['pending'::text, 'running'::text])))),
  constraint eval_run_id_check CHECK ((id ~ '^er_[0-9A-HJKMNP-TV-Z]{26}$'::text)),
  constraint eval_run_judge_samples_check CHECK (((judge_samples >= 1) AND (judge_samples <= 9))),
  constraint eval_run_repeat_check CHECK (((repeat >= 1) AND (repeat <= 5))),
  constraint eval_run_reserved_micro_check CHECK ((reserved_micro >= 0)),
  constraint eval_run_score_check CHECK (((score >= (0)::double precision) AND (score <= (1)::double precision))),
  constraint eval_run_spent_micro_check CHECK ((spent_micro >= 0)),
  constraint eval_run_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'running'::text, 'completed'::text, 'stopped'::text, 'cancelled'::text, 'failed'::text]))),
  constraint eval_run_stop_reason_check CHECK ((stop_reason = ANY (ARRAY[''::text, 'budget'::text, 'cancelled'::text, 'credits'::text, 'error'::text]))),
  constraint eval_run_within_budget CHECK (((spent_micro + reserved_micro) <= budget_micro)),
  constraint eval_run_written_off_micro_check CHECK ((written_off_micro >= 0)),
  constraint eval_run_org_id_fkey FOREIGN KEY (org_id) REFERENCES org(id)
);
CREATE INDEX eval_run_suite ON public.eval_run USING btree (suite_id, suite_revision);
CREATE INDEX eval_run_walk ON public.eval_run USING btree (org_id, created_at DESC, id DESC);
alter table public.eval_run enable row level security;
create policy everybody on public.eval_run as permissive for all to public using (true) with check (true);
create policy own_org on public.eval_run as restrictive for all to svc_tenant using ((org_id = current_setting('svc.org_id'::text, true))) with check ((org_id = current_setting('svc.org_id'::text, true)));
grant delete, insert, select, update on public.eval_run to svc_runtime;

create table public.eval_suite (
  id text not null,
  org_id text not null,
  name text not null,
  revision integer not null,
  case_count integer not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint eval_suite_pkey PRIMARY KEY (id),
  constraint eval_suite_case_count_check CHECK (((case_count >= 1) AND (case_count <= 5000))),
  constraint eval_suite_id_check CHECK ((id ~ '^es_[0-9A-HJKMNP-TV-Z]{26}$'::text)),
  constraint eval_suite_name_check CHECK (((char_length(name) >= 1) AND (char_length(name) <= 120))),
  constraint eval_suite_revision_check CHECK ((revision > 0)),
  constraint eval_suite_org_id_fkey FOREIGN KEY (org_id) REFERENCES org(id)
);
CREATE INDEX eval_suite_walk ON public.eval_suite USING btree (org_id, created_at DESC, id DESC);
alter table public.eval_suite enable row level security;
create policy everybody on public.eval_suite as permissive for all to public using (true) with check (true);
create policy own_org on public.eval_suite as restrictive for all to svc_tenant using ((org_id = current_setting('svc.org_id'::text, true))) with check ((org_id = current_setting('svc.org_id'::text, true)));
grant delete, insert, select, update on public.eval_suite to svc_runtime;

create table public.experiment_bucket (
  org_id text not null,
  environment text not null,
  name text not null,
  version integer not null,
  experiment text not null,
  arm text not null,
  bucket integer not null,
  calls bigint not null,
  errors bigint not null,
  cost_micro bigint not null,
  ttft_calls bigint not null,
  ttft_ms double precision not null,
  constraint experiment_bucket_pkey PRIMARY KEY (org_id, environment, name, version, experiment, arm, bucket),
  constraint experiment_bucket_arm_check CHECK ((arm = ANY (ARRAY['control'::text, 'candidate'::text]))),
  constraint experiment_bucket_bucket_check CHECK (((bucket >= 0) AND (bucket <= 9999))),
  constraint experiment_bucket_org_id_name_version_fkey FOREIGN KEY (org_id, name, version) REFERENCES policy_version(org_id, name, version) ON DELETE CASCADE
);
alter table public.experiment_bucket enable row level security;
create policy everybody on public.experiment_bucket as permissive for all to public using (true) with check (true);
create policy own_org on public.experiment_bucket as restrictive for all to svc_tenant using ((org_id = current_setting('svc.org_id'::text, true))) with check ((org_id = current_setting('svc.org_id'::text, true)));
grant delete, insert, select, update on public.experiment_bucket to svc_runtime;

create table public.experiment_hour (
  org_id text not null,
  environment text not null,
  name text not null,
  version integer not null,
  experiment text not null,
  arm text not null,
  hour timestamp with time zone not null,
  ttft_bin integer not null,
  requests bigint not null,
  errors bigint not null,
  cost_micro bigint not null,
  output_tokens bigint not null,
  constraint experiment_hour_pkey PRIMARY KEY (org_id, environment, name, version, experiment, arm, hour, ttft_bin),
  constraint experiment_hour_arm_check CHECK ((arm = ANY (ARRAY['control'::text, 'candidate'::text]))),
  constraint experiment_hour_org_id_name_version_fkey FOREIGN KEY (org_id, name, version) REFERENCES policy_version(org_id, name, version) ON DELETE CASCADE
);
CREATE INDEX experiment_hour_by_age ON public.experiment_hour USING btree (hour);
alter table public.experiment_hour enable row level security;
create policy everybody on public.experiment_hour as permissive for all to public using (true) with check (true);
create policy own_org on public.experiment_hour as restrictive for all to svc_tenant using ((org_id = current_setting('svc.org_id'::text, true))) with check ((org_id = current_setting('svc.org_id'::text, true)));
grant delete, insert, select, update on public.experiment_hour to svc_runtime;

create table public.experiment_sample (
  org_id text not null,
  environment text not null,
  name text not null,
  version integer not null,
  experiment text not null,
  arm text not null,
  bucket integer not null,
  hour timestamp with time zone not null,
  ttft_ms double precision,
  failed boolean not null,
  cost_micro bigint not null,
  output_tokens bigint not null,
  constraint experiment_sample_arm_check CHECK ((arm = ANY (ARRAY['control'::text, 'candidate'::text]))),
  constraint experiment_sample_bucket_check CHECK (((bucket >= 0) AND (bucket <= 9999)))
);
alter table public.experiment_sample enable row level security;
create policy everybody on public.experiment_sample as permissive for all to public using (true) with check (true);
create policy own_org on public.experiment_sample as restrictive for all to svc_tenant using ((org_id = current_setting('svc.org_id'::text, true))) with check ((org_id = current_setting('svc.org_id'::text, true)));
grant delete, insert, select, update on public.experiment_sample to svc_runtime;

create table public.figures (
  one boolean not null default true,
  content jsonb,
  refreshed_at timestamp with time zone,
  asked_at timestamp with time zone,
  constraint figures_pkey PRIMARY KEY (one),
  constraint figures_are_dated CHECK (((content IS NULL) = (refreshed_at IS NULL))),
  constraint figures_is_one CHECK (one)
);
grant delete, insert, select, update on public.figures to svc_runtime;

create table public.fx_day (
  source text not null,
  fx_day date not null,
  rates jsonb not null,
  state text not null,
  fetched_at timestamp with time zone not null,
  decided_at timestamp with time zone,
  approval_id text,
  constraint fx_day_once PRIMARY KEY (source, fx_day),
  constraint fx_day_approval_id_key UNIQUE (approval_id),
  constraint fx_day_source_check CHECK ((source = ANY (ARRAY['static'::text, 'ecb'::text, 'json'::text]))),
  constraint fx_day_state_check CHECK ((state = ANY (ARRAY['in_force'::text, 'waiting'::text]))),
  constraint fx_day_approval_id_fkey FOREIGN KEY (approval_id) REFERENCES approval(id)
);
grant delete, insert, select, update on public.fx_day to svc_runtime;

create table public.fx_fetch (
  source text not null,
  slot_at timestamp with time zone,
  tried_at timestamp with time zone not null,
  error text,
  constraint fx_fetch_pkey PRIMARY KEY (source),
  constraint fx_fetch_source_check CHECK ((source = ANY (ARRAY['ecb'::text, 'json'::text])))
);
grant delete, insert, select, update on public.fx_fetch to svc_runtime;

create table public.gift (
  id text not null,
  org_id text not null,
  amount_micro_usd bigint not null,
  code_hash bytea not null,
  hint text not null,
  note text not null,
  status text not null,
  redeemed_by text,
  expires_at timestamp with time zone not null,
  created_at timestamp with time zone not null,
  closed_at timestamp with time zone,
  hash_key_id bytea,
  constraint gift_pkey PRIMARY KEY (id),
  constraint gift_code_once UNIQUE (code_hash),
  constraint gift_amount_in_range CHECK (((amount_micro_usd >= 1000000) AND (amount_micro_usd <= 500000000))),
  constraint gift_closed_at_iff_closed CHECK (((closed_at IS NOT NULL) = (status = ANY (ARRAY['redeemed'::text, 'cancelled'::text])))),
  constraint gift_id_check CHECK ((id ~ '^gift_[0-9A-HJKMNP-TV-Z]{26}$'::text)),
  constraint gift_redeemed_by_another CHECK ((((redeemed_by IS NOT NULL) = (status = 'redeemed'::text)) AND (redeemed_by <> org_id))),
  constraint gift_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'open'::text, 'redeemed'::text, 'cancelled'::text]))),
  constraint gift_org_id_fkey FOREIGN KEY (org_id) REFERENCES org(id),
  constraint gift_redeemed_by_fkey FOREIGN KEY (redeemed_by) REFERENCES org(id)
);
CREATE INDEX gift_open ON public.gift USING btree (expires_at) WHERE (status = 'open'::text);
CREATE INDEX gift_pending ON public.gift USING btree (created_at) WHERE (status = 'pending'::text);
CREATE INDEX gift_walk ON public.gift USING btree (org_id, created_at DESC, id DESC);
alter table public.gift enable row level security;
create policy everybody on public.gift as permissive for all to public using (true) with check (true);
create policy own_org on public.gift as restrictive for all to svc_tenant using ((org_id = current_setting('svc.org_id'::text, true))) with check ((org_id = current_setting('svc.org_id'::text, true)));
grant delete, insert, select, update on public.gift to svc_runtime;

create table public.grant_change (
  xid xid8 not null default pg_current_xact_id(),
  org_id text not null,
  key_id text,
  at timestamp with time zone not null default clock_timestamp()
);
CREATE INDEX grant_change_xid ON public.grant_change USING btree (xid);
alter table public.grant_change enable row level security;
create policy everybody on public.grant_change as permissive for all to public using (true) with check (true);
create policy own_org on public.grant_change as restrictive for all to svc_tenant using ((org_id = current_setting('svc.org_id'::text, true))) with check ((org_id = current_setting('svc.org_id'::text, true)));
grant delete, insert, select, update on public.grant_change to svc_runtime;

create table public.gst_rate (
  from_day date not null,
  rate_bps integer not null,
  set_at timestamp with time zone not null,
  constraint gst_rate_pkey PRIMARY KEY (from_day),
  constraint gst_rate_rate_bps_check CHECK (((rate_bps >= 0) AND (rate_bps <= 10000)))
);
grant insert, select, update on public.gst_rate to svc_runtime;

create table public.idempotency (
  org_id text not null,
  environment text not null,
  path text not null,
  key_hash bytea not null,
  fingerprint bytea not null,
  started_at timestamp with time zone not null,
  status integer,
  body bytea,
  expires_at timestamp with time zone not null,
  constraint idempotency_pkey PRIMARY KEY (org_id, environment, path, key_hash),
  constraint idempotency_body_with_status CHECK (((status IS NULL) = (body IS NULL)))
);
CREATE INDEX idempotency_expiry ON public.idempotency USING btree (expires_at);
alter table public.idempotency enable row level security;
create policy everybody on public.idempotency as permissive for all to public using (true) with check (true);
create policy own_org on public.idempotency as restrictive for all to svc_tenant using ((org_id = current_setting('svc.org_id'::text, true))) with check ((org_id = current_setting('svc.org_id'::text, true)));
grant delete, insert, select, update on public.idempotency to svc_runtime;

create table public.invitation (
  id text not null,
  org_id text not null,
  email text not null,
  email_key text not null,
  role text not null,
  status text not null default 'pending'::text,
  hash bytea not null,
  mails integer not null default 1,
  invited_by text not null,
  accepted_by text,
  expires_at timestamp with time zone not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint invitation_pkey PRIMARY KEY (id),
  constraint invitation_hash_once UNIQUE (hash),
  constraint invitation_accepted_by_somebody CHECK (((status = 'accepted'::text) = (accepted_by IS NOT NULL))),
  constraint invitation_email_check CHECK (((char_length(email) >= 3) AND (char_length(email) <= 254))),
  constraint invitation_hash_check CHECK ((octet_length(hash) = 32)),
  constraint invitation_id_check CHECK ((id ~ '^ivt_[0-9A-HJKMNP-TV-Z]{26}$'::text)),
  constraint invitation_mails_check CHECK ((mails >= 1)),
  constraint invitation_role_check CHECK ((role = ANY (ARRAY['owner'::text, 'admin'::text, 'developer'::text, 'billing'::text, 'viewer'::text]))),
  constraint invitation_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'accepted'::text, 'revoked'::text, 'expired'::text]))),
  constraint invitation_accepted_by_fkey FOREIGN KEY (accepted_by) REFERENCES person(id),
  constraint invitation_invited_by_fkey FOREIGN KEY (invited_by) REFERENCES person(id),
  constraint invitation_org_id_fkey FOREIGN KEY (org_id) REFERENCES org(id)
);
CREATE INDEX invitation_of_org ON public.invitation USING btree (org_id, created_at DESC, id DESC);
CREATE UNIQUE INDEX invitation_pending_once ON public.invitation USING btree (org_id, email_key) WHERE (status = 'pending'::text);
alter table public.invitation enable row level security;
create policy everybody on public.invitation as permissive for all to public using (true) with check (true);
create policy own_org on public.invitation as restrictive for all to svc_tenant using ((org_id = current_setting('svc.org_id'::text, true))) with check ((org_id = current_setting('svc.org_id'::text, true)));
grant delete, insert, select, update on public.invitation to svc_runtime;

create table public.invite_code (
  id text not null,
  hash bytea not null,
  hint text not null,
  note text not null,
  max_uses integer not null,
  uses integer not null default 0,
  expires_at timestamp with time zone not null,
  revoked_at timestamp with time zone,
  created_by text not null,
  created_at timestamp with time zone not null,
  hash_key_id bytea,
  reseller_id text,
  constraint invite_code_pkey PRIMARY KEY (id),
  constraint invite_code_hash_key UNIQUE (hash),
  constraint invite_code_check CHECK (((uses >= 0) AND (uses <= max_uses))),
  constraint invite_code_id_check CHECK ((id ~ '^ivc_[0-9A-HJKMNP-TV-Z]{26}$'::text)),
  constraint invite_code_max_uses_check CHECK (((max_uses >= 1) AND (max_uses <= 10000))),
  constraint invite_code_reseller_id_fkey FOREIGN KEY (reseller_id) REFERENCES org(id)
);
CREATE INDEX invite_code_newest ON public.invite_code USING btree (created_at DESC, id DESC);
CREATE INDEX invite_code_of_reseller ON public.invite_code USING btree (reseller_id, created_at DESC, id DESC) WHERE (reseller_id IS NOT NULL);
grant delete, insert, select, update on public.invite_code to svc_runtime;

create table public.invite_code_use (
  org_id text not null,
  invite_code_id text not null,
  user_id text not null,
  used_at timestamp with time zone not null,
  constraint invite_code_use_pkey PRIMARY KEY (org_id),
  constraint invite_code_use_invite_code_id_fkey FOREIGN KEY (invite_code_id) REFERENCES invite_code(id),
  constraint invite_code_use_org_id_fkey FOREIGN KEY (org_id) REFERENCES org(id)
);
alter table public.invite_code_use enable row level security;
create policy everybody on public.invite_code_use as permissive for all to public using (true) with check (true);
create policy own_org on public.invite_code_use as restrictive for all to svc_tenant using ((org_id = current_setting('svc.org_id'::text, true))) with check ((org_id = current_setting('svc.org_id'::text, true)));
grant delete, insert, select, update on public.invite_code_use to svc_runtime;

create table public.invoice (
  id text not null,
  org_id text not null,
  supplier_id text not null,
  number text not null,
  fy text not null,
  kind text not null,
  status text not null default 'issued'::text,
  currency text not null,
  place_of_supply text not null,
  supplier jsonb not null,
  recipient jsonb not null,
  lines jsonb not null,
  hsn_sac text not null,
  tax_rate_bps integer not null,
  taxable_minor bigint not null,
  cgst_minor bigint not null,
  sgst_minor bigint not null,
  igst_minor bigint not null,
  total_minor bigint not null,
  endorsement text not null default ''::text,
  fx_rate numeric(20,8) not null,
  credits_micro bigint not null,
  topup_id text,
  refund_id text,
  original_invoice_id text,
  irn_status text not null,
  irn text,
  irn_qr text,
  ack_no text,
  ack_at timestamp with time zone,
  pdf_sha256 text,
  issued_at timestamp with time zone not null,
  sent_at timestamp with time zone,
  payment_ref text,
  inr_rate numeric(20,8),
  constraint invoice_pkey PRIMARY KEY (id),
  constraint invoice_number_once UNIQUE (supplier_id, number),
  constraint invoice_cgst_minor_check CHECK ((cgst_minor >= 0)),
  constraint invoice_credit_note_names_original CHECK (((kind = 'credit_note'::text) = (original_invoice_id IS NOT NULL))),
  constraint invoice_currency_check CHECK ((currency ~ '^[A-Z]{3}$'::text)),
  constraint invoice_id_check CHECK ((id ~ '^(inv|cn)_[0-9A-HJKMNP-TV-Z]{26}$'::text)),
  constraint invoice_id_says_credit_note CHECK (((kind = 'credit_note'::text) = (id ~ '^cn_'::text))),
  constraint invoice_igst_minor_check CHECK ((igst_minor >= 0)),
  constraint invoice_inr_rate_check CHECK ((inr_rate > (0)::numeric)),
  constraint invoice_irn_status_check CHECK ((irn_status = ANY (ARRAY['not_applicable'::text, 'pending'::text, 'generated'::text, 'cancelled'::text, 'failed'::text]))),
  constraint invoice_kind_check CHECK ((kind = ANY (ARRAY['tax_invoice'::text, 'export_invoice'::text, 'credit_note'::text, 'receipt'::text]))),
  constraint invoice_number_check CHECK ((char_length(number) <= 16)),
  constraint invoice_receipt_has_no_tax CHECK (((kind <> 'receipt'::text) OR (total_minor = taxable_minor))),
  constraint invoice_registered_has_everything CHECK (((irn_status <> 'generated'::text) OR ((irn ~ '^[0-9a-f]{64}$'::text) AND (irn_qr <> ''::text) AND (ack_no <> ''::text) AND (ack_at IS NOT NULL)))),
  constraint invoice_sgst_minor_check CHECK ((sgst_minor >= 0)),
  constraint invoice_status_check CHECK ((status = ANY (ARRAY['issued'::text, 'cancelled'::text]))),
  constraint invoice_tax_is_of_one_state_or_two CHECK (((cgst_minor = sgst_minor) AND ((igst_minor = 0) OR (cgst_minor = 0)))),
  constraint invoice_tax_rate_bps_check CHECK ((tax_rate_bps >= 0)),
  constraint invoice_taxable_minor_check CHECK ((taxable_minor >= 0)),
  constraint invoice_total_is_the_sum CHECK ((total_minor = (((taxable_minor + cgst_minor) + sgst_minor) + igst_minor))),
  constraint invoice_org_id_fkey FOREIGN KEY (org_id) REFERENCES org(id),
  constraint invoice_original_invoice_id_fkey FOREIGN KEY (original_invoice_id) REFERENCES invoice(id)
);
CREATE INDEX invoice_by_time ON public.invoice USING btree (supplier_id, issued_at);
CREATE INDEX invoice_credit_notes ON public.invoice USING btree (original_invoice_id) WHERE (original_invoice_id IS NOT NULL);
CREATE UNIQUE INDEX invoice_irn_once ON public.invoice USING btree (irn) WHERE (irn IS NOT NULL);
CREATE UNIQUE INDEX invoice_refund_once ON public.invoice USING btree (refund_id) WHERE (refund_id IS NOT NULL);
CREATE INDEX invoice_supplied ON public.invoice USING btree (supplier_id, issued_at DESC, id DESC) WHERE (supplier_id <> 'platform'::text);
CREATE UNIQUE INDEX invoice_topup_once ON public.invoice USING btree (topup_id) WHERE (kind <> 'credit_note'::text);
CREATE INDEX invoice_unregistered ON public.invoice USING btree (issued_at) WHERE (irn_status = 'pending'::text);
CREATE INDEX invoice_walk ON public.invoice USING btree (org_id, issued_at DESC, id DESC);
alter table public.invoice enable row level security;
create policy everybody on public.invoice as permissive for all to public using (true) with check (true);
create policy own_org on public.invoice as restrictive for all to svc_tenant using ((org_id = current_setting('svc.org_id'::text, true))) with check ((org_id = current_setting('svc.org_id'::text, true)));
grant insert, select on public.invoice to svc_runtime;
grant update (irn_status, irn, irn_qr, ack_no, ack_at, pdf_sha256, sent_at) on public.invoice to svc_runtime;

create table public.invoice_counter (
  supplier text not null,
  series text not null,
  fy text not null,
  last_no integer not null,
  constraint invoice_counter_pkey PRIMARY KEY (supplier, series, fy),
  constraint invoice_counter_fy_check CHECK ((fy ~ '^\d\d-\d\d$'::text)),
  constraint invoice_counter_last_no_check CHECK ((last_no >= 1)),
  constraint invoice_counter_series_check CHECK ((series ~ '^[A-Z][A-Z0-9]{0,3}$'::text))
);
grant insert, select, update on public.invoice_counter to svc_runtime;

create table public.invoice_file (
  invoice_id text not null,
  registered boolean not null,
  sha256 text not null,
  pdf bytea not null,
  made_at timestamp with time zone not null,
  constraint invoice_file_pkey PRIMARY KEY (invoice_id, registered),
  constraint invoice_file_sha256_check CHECK ((sha256 ~ '^[0-9a-f]{64}$'::text)),
  constraint invoice_file_invoice_id_fkey FOREIGN KEY (invoice_id) REFERENCES invoice(id)
);
grant insert, select on public.invoice_file to svc_runtime;

create table public.invoice_series (
  series text not null,
  supplier text not null,
  constraint invoice_series_pkey PRIMARY KEY (series),
  constraint invoice_series_series_check CHECK ((series ~ '^[A-Z][A-Z0-9]{0,3}$'::text))
);
grant delete, insert, select on public.invoice_series to svc_runtime;

create table public.key_notice (
  key_id text not null,
  expires_at timestamp with time zone not null,
  days integer not null,
  created_at timestamp with time zone not null,
  constraint key_notice_once PRIMARY KEY (key_id, expires_at, days),
  constraint key_notice_days_check CHECK ((days > 0)),
  constraint key_notice_key_id_fkey FOREIGN KEY (key_id) REFERENCES api_key(id)
);
grant delete, insert, select, update on public.key_notice to svc_runtime;

create table public.ledger_checkpoint (
  checkpoint_no bigint not null,
  taken_at timestamp with time zone not null,
  note text not null,
  verifier_key text not null,
  constraint ledger_checkpoint_pkey PRIMARY KEY (checkpoint_no),
  constraint ledger_checkpoint_checkpoint_no_check CHECK ((checkpoint_no > 0))
);
grant insert, select on public.ledger_checkpoint to svc_runtime;

create table public.ledger_checkpoint_head (
  shard text not null,
  book_id bigint not null,
  checkpoint_no bigint not null,
  first_block bigint not null,
  last_block bigint not null,
  head bytea not null,
  blocks_root bytea not null,
  constraint ledger_checkpoint_head_pkey PRIMARY KEY (shard, book_id, checkpoint_no),
  constraint ledger_checkpoint_head_blocks_root_check CHECK ((octet_length(blocks_root) = 32)),
  constraint ledger_checkpoint_head_check CHECK ((last_block >= first_block)),
  constraint ledger_checkpoint_head_first_block_check CHECK ((first_block > 0)),
  constraint ledger_checkpoint_head_head_check CHECK ((octet_length(head) = 32)),
  constraint ledger_checkpoint_head_checkpoint_no_fkey FOREIGN KEY (checkpoint_no) REFERENCES ledger_checkpoint(checkpoint_no) DEFERRABLE INITIALLY DEFERRED
);
grant insert, select on public.ledger_checkpoint_head to svc_runtime;

create table public.ledger_load (
  shard text not null,
  read_at timestamp with time zone not null,
  place text not null,
  counted bigint not null,
  calls bigint not null,
  constraint one_reading_per_moment PRIMARY KEY (shard, read_at),
  constraint load_never_negative CHECK ((calls >= 0))
);
grant delete, insert, select, update on public.ledger_load to svc_runtime;

create table public.ledger_shard (
  name text not null,
  place text,
  is_open boolean not null default true,
  moving_from text,
  moving_to text,
  step text,
  started_at timestamp with time zone,
  moved_at timestamp with time zone,
  constraint ledger_shard_pkey PRIMARY KEY (name),
  constraint move_is_whole CHECK ((num_nonnulls(moving_from, moving_to, step, started_at) = ANY (ARRAY[0, 4]))),
  constraint step_is_known CHECK ((step = ANY (ARRAY['copying'::text, 'following'::text, 'moved'::text])))
);
grant delete, insert, select, update on public.ledger_shard to svc_runtime;

create table public.ledger_task (
  task_no bigint not null generated always as identity,
  shard text not null,
  book_id bigint not null,
  kind text not null,
  reference text,
  content jsonb not null,
  result jsonb,
  applied_at timestamp with time zone,
  tries integer not null default 0,
  next_at timestamp with time zone not null,
  fault text,
  created_at timestamp with time zone not null,
  constraint ledger_task_pkey PRIMARY KEY (task_no),
  constraint applied_iff_answered CHECK (((applied_at IS NULL) = (result IS NULL))),
  constraint ledger_task_kind_is_known CHECK ((kind = ANY (ARRAY['open_book'::text, 'credit'::text, 'debit'::text, 'restore'::text, 'charge_plan'::text, 'charge_back'::text, 'set_budget'::text, 'resume_budget'::text, 'set_low_mark'::text]))),
  constraint reference_iff_it_is_answered CHECK (((reference IS NOT NULL) = (kind = ANY (ARRAY['credit'::text, 'debit'::text, 'restore'::text, 'charge_plan'::text, 'charge_back'::text]))))
);
CREATE UNIQUE INDEX ledger_task_credits_once ON public.ledger_task USING btree (book_id, reference) WHERE (reference IS NOT NULL);
CREATE INDEX ledger_task_waiting ON public.ledger_task USING btree (book_id, task_no) WHERE (applied_at IS NULL);
grant delete, insert, select, update on public.ledger_task to svc_runtime;

create table public.legal_acceptance (
  legal_acceptance_id bigint not null generated always as identity,
  org_id text not null,
  user_id text,
  user_email text,
  key_id text,
  kind text not null,
  version text not null,
  accepted_at timestamp with time zone not null,
  ip text,
  method text not null,
  signer_name text,
  signer_title text,
  text_sha256 bytea not null,
  constraint legal_acceptance_pkey PRIMARY KEY (legal_acceptance_id),
  constraint legal_acceptance_once UNIQUE (org_id, kind, version),
  constraint legal_acceptance_method_check CHECK ((method = ANY (ARRAY['click_through'::text, 'api'::text]))),
  constraint legal_acceptance_kind_version_fkey FOREIGN KEY (kind, version) REFERENCES legal_version(kind, version),
  constraint legal_acceptance_org_id_fkey FOREIGN KEY (org_id) REFERENCES org(id),
  constraint legal_acceptance_text_sha256_fkey FOREIGN KEY (text_sha256) REFERENCES legal_text(sha256)
);
CREATE TRIGGER legal_acceptance_announces AFTER INSERT ON public.legal_acceptance FOR EACH ROW EXECUTE FUNCTION announce_grant_change();
alter table public.legal_acceptance enable row level security;
create policy everybody on public.legal_acceptance as permissive for all to public using (true) with check (true);
create policy own_org on public.legal_acceptance as restrictive for all to svc_tenant using ((org_id = current_setting('svc.org_id'::text, true))) with check ((org_id = current_setting('svc.org_id'::text, true)));
grant insert, select on public.legal_acceptance to svc_runtime;

create table public.legal_text (
  sha256 bytea not null,
  text text not null,
  constraint legal_text_pkey PRIMARY KEY (sha256),
  constraint legal_text_sha256_check CHECK ((octet_length(sha256) = 32))
);
grant insert, select on public.legal_text to svc_runtime;

create table public.legal_version (
  kind text not null,
  version text not null,
  title text not null,
  summary text not null,
  requires_acceptance boolean not null,
  text text not null,
  effective_at timestamp with time zone not null,
  published_at timestamp with time zone not null,
  published_by text not null,
  announced_through text,
  constraint legal_version_pkey PRIMARY KEY (kind, version),
  constraint legal_version_one_at_a_time UNIQUE (kind, effective_at),
  constraint legal_version_kind_check CHECK ((kind = ANY (ARRAY['tos'::text, 'dpa'::text, 'privacy'::text, 'aup'::text, 'dpdp_notice'::text, 'sccs'::text]))),
  constraint legal_version_summary_check CHECK (((char_length(summary) >= 1) AND (char_length(summary) <= 500))),
  constraint legal_version_text_check CHECK (((char_length(text) >= 1) AND (char_length(text) <= 200000))),
  constraint legal_version_title_check CHECK (((char_length(title) >= 1) AND (char_length(title) <= 120))),
  constraint legal_version_version_check CHECK ((version ~ '^\d{4}-\d{2}-\d{2}(\.\d{1,2})?$'::text))
);
grant insert, select on public.legal_version to svc_runtime;
grant update (announced_through) on public.legal_version to svc_runtime;

create table public.limit_request (
  ticket_id text not null,
  org_id text not null,
  environment text not null,
  key_id text not null,
  chain_no integer not null,
  rpm integer,
  tpm integer,
  concurrency integer,
  automatic boolean not null,
  created_at timestamp with time zone not null,
  constraint limit_request_pkey PRIMARY KEY (ticket_id),
  constraint limit_request_asks_for_something CHECK ((num_nonnulls(rpm, tpm, concurrency) > 0)),
  constraint limit_request_concurrency_positive CHECK ((concurrency > 0)),
  constraint limit_request_environment_check CHECK ((environment = ANY (ARRAY['live'::text, 'test'::text]))),
  constraint limit_request_rpm_positive CHECK ((rpm > 0)),
  constraint limit_request_tpm_positive CHECK ((tpm > 0)),
  constraint limit_request_key_id_fkey FOREIGN KEY (key_id) REFERENCES api_key(id),
  constraint limit_request_org_id_fkey FOREIGN KEY (org_id) REFERENCES org(id),
  constraint limit_request_ticket_id_fkey FOREIGN KEY (ticket_id) REFERENCES ticket(id)
);
CREATE INDEX limit_request_raises ON public.limit_request USING btree (chain_no, created_at) WHERE automatic;
alter table public.limit_request enable row level security;
create policy everybody on public.limit_request as permissive for all to public using (true) with check (true);
create policy own_org on public.limit_request as restrictive for all to svc_tenant using ((org_id = current_setting('svc.org_id'::text, true))) with check ((org_id = current_setting('svc.org_id'::text, true)));
grant insert, select, update on public.limit_request to svc_runtime;

create table public.mail (
  id text not null,
  org_id text,
  template text not null,
  reference text not null,
  recipient text not null,
  recipient_key text not null,
  data jsonb not null,
  sealed bytea,
  attachments jsonb not null default '[]'::jsonb,
  status text not null default 'queued'::text,
  attempts integer not null default 0,
  next_at timestamp with time zone not null,
  limited boolean not null default false,
  lease text,
  lease_until timestamp with time zone,
  answer text not null default ''::text,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  sent_at timestamp with time zone,
  constraint mail_pkey PRIMARY KEY (id),
  constraint mail_once UNIQUE (template, reference, recipient_key),
  constraint mail_answer_check CHECK ((char_length(answer) <= 500)),
  constraint mail_attempts_check CHECK ((attempts >= 0)),
  constraint mail_id_check CHECK ((id ~ '^mail_[0-9A-HJKMNP-TV-Z]{26}$'::text)),
  constraint mail_leased CHECK (((status = 'sending'::text) = ((lease IS NOT NULL) AND (lease_until IS NOT NULL)))),
  constraint mail_recipient_check CHECK (((char_length(recipient) >= 3) AND (char_length(recipient) <= 254))),
  constraint mail_recipient_key_check CHECK (((char_length(recipient_key) >= 3) AND (char_length(recipient_key) <= 254))),
  constraint mail_reference_check CHECK ((reference ~ '^[A-Za-z0-9_-]{1,200}$'::text)),
  constraint mail_secret_goes_with_its_end CHECK (((sealed IS NULL) OR (status = ANY (ARRAY['queued'::text, 'sending'::text])))),
  constraint mail_sent_has_a_time CHECK (((status = ANY (ARRAY['sent'::text, 'bounced'::text])) = (sent_at IS NOT NULL))),
  constraint mail_status_check CHECK ((status = ANY (ARRAY['queued'::text, 'sending'::text, 'sent'::text, 'bounced'::text, 'failed'::text, 'dropped'::text]))),
  constraint mail_template_check CHECK (((char_length(template) >= 1) AND (char_length(template) <= 60))),
  constraint mail_org_id_fkey FOREIGN KEY (org_id) REFERENCES org(id)
);
CREATE INDEX mail_age ON public.mail USING btree (created_at);
CREATE INDEX mail_of_org ON public.mail USING btree (org_id, created_at DESC, id DESC);
CREATE INDEX mail_of_reference ON public.mail USING btree (reference);
CREATE INDEX mail_queue ON public.mail USING btree (next_at, id) WHERE (status = ANY (ARRAY['queued'::text, 'sending'::text]));
CREATE INDEX mail_to_address ON public.mail USING btree (recipient_key, sent_at);
alter table public.mail enable row level security;
create policy everybody on public.mail as permissive for all to public using (true) with check (true);
create policy own_org on public.mail as restrictive for all to svc_tenant using (((org_id = current_setting('svc.org_id'::text, true)) OR (org_id IS NULL))) with check (((org_id = current_setting('svc.org_id'::text, true)) OR (org_id IS NULL)));
grant delete, insert, select, update on public.mail to svc_runtime;

create table public.mail_address (
  recipient_key text not null,
  cause text not null,
  answer text not null,
  mail_id text not null,
  refused_at timestamp with time zone not null,
  constraint mail_address_pkey PRIMARY KEY (recipient_key),
  constraint mail_address_cause_check CHECK ((cause = ANY (ARRAY['refused'::text, 'bounced'::text])))
);
grant delete, insert, select, update on public.mail_address to svc_runtime;

create table public.mail_sender (
  org_id text not null,
  domain text not null,
  from_local text not null,
  public_key text not null,
  private_key bytea not null,
  return_host text not null,
  status text not null default 'pending'::text,
  dkim_found boolean not null default false,
  return_found boolean not null default false,
  misses integer not null default 0,
  checked_at timestamp with time zone,
  created_at timestamp with time zone not null,
  constraint mail_sender_pkey PRIMARY KEY (org_id),
  constraint mail_sender_domain_check CHECK ((char_length(domain) <= 238)),
  constraint mail_sender_from_local_check CHECK ((char_length(from_local) <= 64)),
  constraint mail_sender_is_pending_until_seen CHECK (((status = 'pending'::text) OR (checked_at IS NOT NULL))),
  constraint mail_sender_misses_check CHECK ((misses >= 0)),
  constraint mail_sender_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'verified'::text, 'failed'::text]))),
  constraint mail_sender_org_id_fkey FOREIGN KEY (org_id) REFERENCES org(id)
);
CREATE INDEX mail_sender_due ON public.mail_sender USING btree (COALESCE(checked_at, created_at));
alter table public.mail_sender enable row level security;
create policy everybody on public.mail_sender as permissive for all to public using (true) with check (true);
create policy own_org on public.mail_sender as restrictive for all to svc_tenant using ((org_id = current_setting('svc.org_id'::text, true))) with check ((org_id = current_setting('svc.org_id'::text, true)));
grant delete, insert, select, update on public.mail_sender to svc_runtime;

create table public.mandate (
  id text not null,
  org_id text not null,
  gateway text not null,
  method text not null,
  status text not null,
  reason text,
  setup_ref text,
  registration_url text,
  customer_ref text,
  token_ref text,
  max_amount_minor bigint not null,
  currency text not null,
  notify_hours integer not null,
  consecutive_failures integer not null default 0,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  registered_at timestamp with time zone,
  ends_at timestamp with time zone,
  released_at timestamp with time zone,
  constraint mandate_pkey PRIMARY KEY (id),
  constraint mandate_setup_once UNIQUE (gateway, setup_ref),
  constraint mandate_consecutive_failures_check CHECK ((consecutive_failures >= 0)),
  constraint mandate_currency_check CHECK ((currency ~ '^[A-Z]{3}$'::text)),
  constraint mandate_gateway_check CHECK ((gateway = ANY (ARRAY['rail-a'::text, 'rail-b'::text]))),
  constraint mandate_id_check CHECK ((id ~ '^mnd_[0-9A-HJKMNP-TV-Z]{26}$'::text)),
  constraint mandate_in_force_has_everything CHECK (((status <> ALL (ARRAY['active'::text, 'paused'::text])) OR ((token_ref IS NOT NULL) AND (customer_ref IS NOT NULL) AND (registered_at IS NOT NULL)))),
  constraint mandate_max_amount_minor_check CHECK ((max_amount_minor > 0)),
  constraint mandate_method_check CHECK ((method = ANY (ARRAY['card'::text, 'upi'::text, 'emandate'::text]))),
  constraint mandate_notify_hours_check CHECK ((notify_hours >= 0)),
  constraint mandate_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'active'::text, 'paused'::text, 'cancelled'::text, 'rejected'::text, 'expired'::text]))),
  constraint mandate_org_id_fkey FOREIGN KEY (org_id) REFERENCES org(id)
);
CREATE INDEX mandate_customer ON public.mandate USING btree (gateway, customer_ref) WHERE (customer_ref IS NOT NULL);
CREATE INDEX mandate_ending ON public.mandate USING btree (ends_at) WHERE ((status = ANY (ARRAY['active'::text, 'paused'::text])) AND (ends_at IS NOT NULL));
CREATE UNIQUE INDEX mandate_one_in_force ON public.mandate USING btree (org_id) WHERE (status = ANY (ARRAY['active'::text, 'paused'::text]));
CREATE UNIQUE INDEX mandate_one_pending ON public.mandate USING btree (org_id) WHERE (status = 'pending'::text);
CREATE INDEX mandate_token ON public.mandate USING btree (gateway, token_ref) WHERE (token_ref IS NOT NULL);
CREATE INDEX mandate_walk ON public.mandate USING btree (org_id, created_at DESC, id DESC);
alter table public.mandate enable row level security;
create policy everybody on public.mandate as permissive for all to public using (true) with check (true);
create policy own_org on public.mandate as restrictive for all to svc_tenant using ((org_id = current_setting('svc.org_id'::text, true))) with check ((org_id = current_setting('svc.org_id'::text, true)));
grant insert, select, update on public.mandate to svc_runtime;

create table public.model_day (
  day date not null,
  model text not null,
  requests bigint not null,
  tokens bigint not null,
  apps integer not null,
  orgs integer not null,
  constraint model_day_pkey PRIMARY KEY (day, model)
);
grant delete, insert, select, update on public.model_day to svc_runtime;

create table public.org (
  id text not null,
  slug text not null,
  name text not null,
  kind text not null default 'team'::text,
  status text not null default 'active'::text,
  plan_id text not null default 'payg'::text,
  billing_country text not null,
  billing_currency text not null,
  legal_name text,
  gstin text,
  tax_status text not null default 'unregistered'::text,
  billing_email text,
  billing_address jsonb,
  settings jsonb not null default '{}'::jsonb,
  data_policy jsonb not null,
  pepper bytea,
  shard text not null default 'main'::text,
  live_book_id bigint not null default nextval('book_no'::regclass),
  sandbox_book_id bigint not null default nextval('book_no'::regclass),
  parent_org_id text,
  reseller_tier_id text,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  closed_at timestamp with time zone,
  logging_off_at timestamp with time zone,
  low_balance_micro bigint not null default 5000000,
  limit_overrides jsonb not null default '{}'::jsonb,
  plan_since timestamp with time zone,
  next_plan_id text,
  next_plan_at timestamp with time zone,
  suspended_for text,
  plan_free_until timestamp with time zone,
  pepper_sealed bytea,
  erasure_requested_at timestamp with time zone,
  erasure_due_at timestamp with time zone,
  self_made boolean not null default false,
  awaits_topup boolean not null default false,
  suspended_by_parent boolean not null default false,
  constraint org_pkey PRIMARY KEY (id),
  constraint org_live_book_id_key UNIQUE (live_book_id),
  constraint org_sandbox_book_id_key UNIQUE (sandbox_book_id),
  constraint org_slug_once UNIQUE (slug),
  constraint limit_overrides_are_members CHECK ((jsonb_typeof(limit_overrides) = 'object'::text)),
  constraint low_balance_is_not_negative CHECK ((low_balance_micro >= 0)),
  constraint next_plan_has_a_time CHECK (((next_plan_id IS NULL) = (next_plan_at IS NULL))),
  constraint org_awaits_only_self_made CHECK ((self_made OR (NOT awaits_topup))),
  constraint org_billing_country_check CHECK ((billing_country ~ '^[A-Z]{2}$'::text)),
  constraint org_billing_currency_check CHECK ((billing_currency ~ '^[A-Z]{3}$'::text)),
  constraint org_closed_at_iff_closed CHECK (((status = 'closed'::text) = (closed_at IS NOT NULL))),
  constraint org_erasure_has_both_times CHECK (((erasure_requested_at IS NULL) = (erasure_due_at IS NULL))),
  constraint org_has_a_parent_iff_child CHECK (((kind = 'child'::text) = (parent_org_id IS NOT NULL))),
  constraint org_has_a_pepper CHECK (((pepper IS NULL) <> (pepper_sealed IS NULL))),
  constraint org_id_check CHECK ((id ~ '^org_[0-9A-HJKMNP-TV-Z]{26}$'::text)),
  constraint org_is_not_its_own_parent CHECK ((parent_org_id <> id)),
  constraint org_kind_check CHECK ((kind = ANY (ARRAY['team'::text, 'personal'::text, 'reseller'::text, 'child'::text]))),
  constraint org_name_check CHECK (((char_length(name) >= 1) AND (char_length(name) <= 120))),
  constraint org_next_plan_id_check CHECK ((next_plan_id = ANY (ARRAY['payg'::text, 'team'::text, 'scale'::text, 'enterprise'::text]))),
  constraint org_pepper_check CHECK ((octet_length(pepper) = 32)),
  constraint org_plan_id_check CHECK ((plan_id = ANY (ARRAY['payg'::text, 'team'::text, 'scale'::text, 'enterprise'::text]))),
  constraint org_shard_check CHECK ((shard ~ '^[a-z][a-z0-9_]{0,39}$'::text)),
  constraint org_slug_check CHECK ((slug ~ '^[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?$'::text)),
  constraint org_status_check CHECK ((status = ANY (ARRAY['active'::text, 'suspended'::text, 'closed'::text]))),
  constraint org_suspended_by_parent_is_suspended CHECK (((NOT suspended_by_parent) OR (status = 'suspended'::text))),
  constraint org_suspended_for_is_known CHECK ((suspended_for = 'payment_hold'::text)),
  constraint org_tax_status_check CHECK ((tax_status = ANY (ARRAY['gst_registered'::text, 'unregistered'::text, 'sez'::text, 'overseas'::text]))),
  constraint org_with_a_tier_is_a_child CHECK (((reseller_tier_id IS NULL) OR (kind = 'child'::text))),
  constraint org_parent_org_id_fkey FOREIGN KEY (parent_org_id) REFERENCES org(id),
  constraint org_tier_is_there FOREIGN KEY (reseller_tier_id) REFERENCES reseller_tier(id)
);
CREATE INDEX org_of_parent ON public.org USING btree (parent_org_id, created_at DESC, id DESC) WHERE (parent_org_id IS NOT NULL);
CREATE INDEX org_of_tier ON public.org USING btree (reseller_tier_id) WHERE (reseller_tier_id IS NOT NULL);
CREATE INDEX org_with_a_plan ON public.org USING btree (plan_id, id) WHERE (plan_id <> 'payg'::text);
CREATE TRIGGER org_announces AFTER UPDATE OF status, plan_id, limit_overrides, data_policy, pepper, awaits_topup, reseller_tier_id, parent_org_id ON public.org FOR EACH ROW EXECUTE FUNCTION announce_grant_change();
CREATE TRIGGER org_keeps_one_level BEFORE INSERT OR UPDATE OF kind, parent_org_id ON public.org FOR EACH ROW EXECUTE FUNCTION org_keeps_one_level();
alter table public.org enable row level security;
create policy everybody on public.org as permissive for all to public using (true) with check (true);
create policy own_org on public.org as restrictive for all to svc_tenant using ((id = current_setting('svc.org_id'::text, true))) with check ((id = current_setting('svc.org_id'::text, true)));
grant delete, insert, select, update on public.org to svc_runtime;

create table public.org_closing (
  org_id text not null,
  closed_at timestamp with time zone not null,
  refund_requested boolean not null,
  ended_at timestamp with time zone,
  constraint org_closing_pkey PRIMARY KEY (org_id),
  constraint org_closing_org_id_fkey FOREIGN KEY (org_id) REFERENCES org(id)
);
alter table public.org_closing enable row level security;
create policy everybody on public.org_closing as permissive for all to public using (true) with check (true);
create policy own_org on public.org_closing as restrictive for all to svc_tenant using ((org_id = current_setting('svc.org_id'::text, true))) with check ((org_id = current_setting('svc.org_id'::text, true)));
grant delete, insert, select, update on public.org_closing to svc_runtime;

create table public.org_erasure (
  org_id text not null,
  status text not null,
  refund_requested boolean not null,
  requested_at timestamp with time zone not null,
  due_at timestamp with time zone not null,
  began_at timestamp with time zone,
  step integer not null default 0,
  erased jsonb not null default '{}'::jsonb,
  kept jsonb,
  digest text,
  completed_at timestamp with time zone,
  constraint org_erasure_pkey PRIMARY KEY (org_id),
  constraint org_erasure_began CHECK (((status = ANY (ARRAY['closing'::text, 'running'::text, 'completed'::text])) = (began_at IS NOT NULL))),
  constraint org_erasure_digest_check CHECK ((digest ~ '^[0-9a-f]{64}$'::text)),
  constraint org_erasure_receipt CHECK ((((status = 'completed'::text) = (completed_at IS NOT NULL)) AND ((status = 'completed'::text) = (digest IS NOT NULL)) AND ((status = 'completed'::text) = (kept IS NOT NULL)))),
  constraint org_erasure_status_check CHECK ((status = ANY (ARRAY['asked'::text, 'cancelled'::text, 'closing'::text, 'running'::text, 'completed'::text]))),
  constraint org_erasure_step_check CHECK ((step >= 0)),
  constraint org_erasure_org_id_fkey FOREIGN KEY (org_id) REFERENCES org(id)
);
CREATE INDEX org_erasure_due ON public.org_erasure USING btree (due_at) WHERE (status = ANY (ARRAY['asked'::text, 'closing'::text, 'running'::text]));
alter table public.org_erasure enable row level security;
create policy everybody on public.org_erasure as permissive for all to public using (true) with check (true);
create policy own_org on public.org_erasure as restrictive for all to svc_tenant using ((org_id = current_setting('svc.org_id'::text, true))) with check ((org_id = current_setting('svc.org_id'::text, true)));
grant delete, insert, select, update on public.org_erasure to svc_runtime;

create table public.org_export (
  id text not null,
  org_id text not null,
  created_by text not null,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  downloads integer not null default 0,
  last_downloaded_at timestamp with time zone,
  constraint org_export_pkey PRIMARY KEY (id),
  constraint org_export_check CHECK ((expires_at > created_at)),
  constraint org_export_downloaded CHECK (((downloads = 0) = (last_downloaded_at IS NULL))),
  constraint org_export_downloads_check CHECK ((downloads >= 0)),
  constraint org_export_id_check CHECK ((id ~ '^oex_[0-9A-HJKMNP-TV-Z]{26}$'::text)),
  constraint org_export_org_id_fkey FOREIGN KEY (org_id) REFERENCES org(id)
);
CREATE INDEX org_export_walk ON public.org_export USING btree (org_id, created_at DESC, id DESC);
alter table public.org_export enable row level security;
create policy everybody on public.org_export as permissive for all to public using (true) with check (true);
create policy own_org on public.org_export as restrictive for all to svc_tenant using ((org_id = current_setting('svc.org_id'::text, true))) with check ((org_id = current_setting('svc.org_id'::text, true)));
grant delete, insert, select, update on public.org_export to svc_runtime;

create table public.org_member (
  org_id text not null,
  user_id text not null,
  role text not null,
  status text not null default 'active'::text,
  source text not null,
  joined_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  grants text[] not null default '{}'::text[],
  constraint org_member_pkey PRIMARY KEY (org_id, user_id),
  constraint org_member_grants_are_known CHECK ((grants <@ ARRAY['reseller.read'::text, 'reseller.write'::text, 'storefront.write'::text, 'reseller.campaigns'::text, 'reseller.support'::text])),
  constraint org_member_role_check CHECK ((role = ANY (ARRAY['owner'::text, 'admin'::text, 'developer'::text, 'billing'::text, 'viewer'::text]))),
  constraint org_member_source_check CHECK ((source = ANY (ARRAY['invite'::text, 'sso'::text, 'scim'::text, 'owner'::text]))),
  constraint org_member_status_check CHECK ((status = ANY (ARRAY['active'::text, 'suspended'::text]))),
  constraint org_member_org_id_fkey FOREIGN KEY (org_id) REFERENCES org(id),
  constraint org_member_user_id_fkey FOREIGN KEY (user_id) REFERENCES person(id)
);
CREATE INDEX org_member_of_person ON public.org_member USING btree (user_id);
alter table public.org_member enable row level security;
create policy everybody on public.org_member as permissive for all to public using (true) with check (true);
create policy own_org on public.org_member as restrictive for all to svc_tenant using ((org_id = current_setting('svc.org_id'::text, true))) with check ((org_id = current_setting('svc.org_id'::text, true)));
grant delete, insert, select, update on public.org_member to svc_runtime;

create table public.outbox (
  outbox_id bigint not null generated always as identity,
  org_id text not null,
  topic text not null,
  payload jsonb not null,
  created_at timestamp with time zone not null,
  constraint outbox_pkey PRIMARY KEY (outbox_id)
);
alter table public.outbox enable row level security;
create policy everybody on public.outbox as permissive for all to public using (true) with check (true);
create policy own_org on public.outbox as restrictive for all to svc_tenant using ((org_id = current_setting('svc.org_id'::text, true))) with check ((org_id = current_setting('svc.org_id'::text, true)));
grant delete, insert, select, update on public.outbox to svc_runtime;

create table public.password_reset (
  hash bytea not null,
  user_id text not null,
  expires_at timestamp with time zone not null,
  created_at timestamp with time zone not null,
  constraint password_reset_pkey PRIMARY KEY (hash),
  constraint password_reset_hash_check CHECK ((octet_length(hash) = 32)),
  constraint password_reset_user_id_fkey FOREIGN KEY (user_id) REFERENCES person(id) ON DELETE CASCADE
);
CREATE INDEX password_reset_age ON public.password_reset USING btree (expires_at);
CREATE INDEX password_reset_of_person ON public.password_reset USING btree (user_id);
grant delete, insert, select, update on public.password_reset to svc_runtime;

create table public.people_key_no (
  project_id text not null,
  environment text not null,
  key_no integer not null,
  constraint people_key_no_pkey PRIMARY KEY (project_id, environment),
  constraint people_key_no_key_no_key UNIQUE (key_no),
  constraint people_key_no_environment_check CHECK ((environment = ANY (ARRAY['live'::text, 'test'::text]))),
  constraint people_key_no_project_id_fkey FOREIGN KEY (project_id) REFERENCES project(id)
);
grant delete, insert, select, update on public.people_key_no to svc_runtime;

create table public.person (
  id text not null,
  email text not null,
  email_key text not null,
  name text not null default ''::text,
  password_hash text not null,
  password_changed_at timestamp with time zone not null,
  totp_pending bytea,
  totp_secret bytea,
  totp_confirmed_at timestamp with time zone,
  totp_last_step bigint not null default '-1'::integer,
  last_seen_at timestamp with time zone,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  admitted_at timestamp with time zone default now(),
  invite_code_id text,
  locale text not null default 'en'::text,
  constraint person_pkey PRIMARY KEY (id),
  constraint person_email_once UNIQUE (email_key),
  constraint person_email_check CHECK (((char_length(email) >= 3) AND (char_length(email) <= 254))),
  constraint person_id_check CHECK ((id ~ '^usr_[0-9A-HJKMNP-TV-Z]{26}$'::text)),
  constraint person_name_check CHECK ((char_length(name) <= 120)),
  constraint person_totp_confirmed CHECK (((totp_secret IS NULL) = (totp_confirmed_at IS NULL)))
);
grant delete, insert, select, update on public.person to svc_runtime;

create table public.plan_charge (
  org_id text not null,
  period date not null,
  no integer not null,
  plan_id text not null,
  fee_micro bigint not null,
  included_micro bigint not null,
  status text not null,
  tries integer not null,
  mails integer not null default 0,
  grace_until timestamp with time zone,
  created_at timestamp with time zone not null,
  settled_at timestamp with time zone,
  constraint plan_charge_once PRIMARY KEY (org_id, period, no),
  constraint plan_charge_grace_has_an_end CHECK (((status <> 'grace'::text) OR (grace_until IS NOT NULL))),
  constraint plan_charge_included_micro_check CHECK ((included_micro >= 0)),
  constraint plan_charge_no_check CHECK ((no >= 0)),
  constraint plan_charge_period_is_a_month CHECK ((EXTRACT(day FROM period) = (1)::numeric)),
  constraint plan_charge_settled_iff_over CHECK (((settled_at IS NOT NULL) = (status = ANY (ARRAY['paid'::text, 'refused'::text, 'lapsed'::text])))),
  constraint plan_charge_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'grace'::text, 'paid'::text, 'refused'::text, 'lapsed'::text]))),
  constraint plan_charge_tries_check CHECK ((tries > 0)),
  constraint plan_fee_positive CHECK ((fee_micro > 0)),
  constraint plan_charge_org_id_fkey FOREIGN KEY (org_id) REFERENCES org(id)
);
CREATE UNIQUE INDEX plan_charge_one_at_a_time ON public.plan_charge USING btree (org_id) WHERE (settled_at IS NULL);
CREATE INDEX plan_charge_pending ON public.plan_charge USING btree (created_at) WHERE (status = 'pending'::text);
alter table public.plan_charge enable row level security;
create policy everybody on public.plan_charge as permissive for all to public using (true) with check (true);
create policy own_org on public.plan_charge as restrictive for all to svc_tenant using ((org_id = current_setting('svc.org_id'::text, true))) with check ((org_id = current_setting('svc.org_id'::text, true)));
grant insert, select, update on public.plan_charge to svc_runtime;

create table public.plan_fee_notice (
  org_id text not null,
  plan_id text not null,
  sheet_from date not null,
  fee_minor bigint not null,
  begins_on date not null,
  created_at timestamp with time zone not null,
  constraint plan_fee_notice_once PRIMARY KEY (org_id, plan_id, sheet_from, fee_minor),
  constraint plan_fee_notice_begins_with_a_month CHECK ((EXTRACT(day FROM begins_on) = (1)::numeric)),
  constraint plan_fee_notice_fee_minor_check CHECK ((fee_minor > 0)),
  constraint plan_fee_notice_not_before_the_sheet CHECK ((begins_on >= sheet_from)),
  constraint plan_fee_notice_org_id_fkey FOREIGN KEY (org_id) REFERENCES org(id)
);
alter table public.plan_fee_notice enable row level security;
create policy everybody on public.plan_fee_notice as permissive for all to public using (true) with check (true);
create policy own_org on public.plan_fee_notice as restrictive for all to svc_tenant using ((org_id = current_setting('svc.org_id'::text, true))) with check ((org_id = current_setting('svc.org_id'::text, true)));
grant insert, select on public.plan_fee_notice to svc_runtime;

create table public.policy (
  org_id text not null,
  name text not null,
  newest integer not null,
  managed_by text,
  created_at timestamp with time zone not null,
  deleted_at timestamp with time zone,
  constraint policy_pkey PRIMARY KEY (org_id, name),
  constraint policy_deleted_is_unmanaged CHECK (((deleted_at IS NULL) OR (managed_by IS NULL))),
  constraint policy_managed_by_check CHECK (((char_length(managed_by) >= 1) AND (char_length(managed_by) <= 512))),
  constraint policy_name_check CHECK ((name ~ '^[a-z0-9][a-z0-9-]{0,62}$'::text)),
  constraint policy_newest_check CHECK ((newest > 0)),
  constraint policy_org_id_fkey FOREIGN KEY (org_id) REFERENCES org(id)
);
alter table public.policy enable row level security;
create policy everybody on public.policy as permissive for all to public using (true) with check (true);
create policy own_org on public.policy as restrictive for all to svc_tenant using ((org_id = current_setting('svc.org_id'::text, true))) with check ((org_id = current_setting('svc.org_id'::text, true)));
grant delete, insert, select, update on public.policy to svc_runtime;

create table public.policy_activation (
  activation_no bigint not null default nextval('policy_activation_no'::regclass),
  org_id text not null,
  project_id text,
  name text not null,
  version integer not null,
  activated_at timestamp with time zone not null,
  activated_by text not null,
  ended_at timestamp with time zone,
  previous_no bigint,
  xid xid8 not null default pg_current_xact_id(),
  constraint policy_activation_pkey PRIMARY KEY (activation_no),
  constraint policy_activation_org_id_fkey FOREIGN KEY (org_id) REFERENCES org(id),
  constraint policy_activation_org_id_name_version_fkey FOREIGN KEY (org_id, name, version) REFERENCES policy_version(org_id, name, version) ON DELETE CASCADE,
  constraint policy_activation_previous_no_fkey FOREIGN KEY (previous_no) REFERENCES policy_activation(activation_no) ON DELETE SET NULL,
  constraint policy_activation_project_id_fkey FOREIGN KEY (project_id) REFERENCES project(id)
);
CREATE INDEX policy_activation_previous ON public.policy_activation USING btree (previous_no) WHERE (previous_no IS NOT NULL);
CREATE INDEX policy_activation_walk ON public.policy_activation USING btree (org_id, name, version);
CREATE UNIQUE INDEX policy_active_once ON public.policy_activation USING btree (org_id, COALESCE(project_id, ''::text)) WHERE (ended_at IS NULL);
CREATE TRIGGER policy_activation_announces AFTER INSERT OR DELETE OR UPDATE OF ended_at ON public.policy_activation FOR EACH ROW EXECUTE FUNCTION announce_policy_change();
alter table public.policy_activation enable row level security;
create policy everybody on public.policy_activation as permissive for all to public using (true) with check (true);
create policy own_org on public.policy_activation as restrictive for all to svc_tenant using ((org_id = current_setting('svc.org_id'::text, true))) with check ((org_id = current_setting('svc.org_id'::text, true)));
grant delete, insert, select, update on public.policy_activation to svc_runtime;

create table public.policy_canary_halt (
  org_id text not null,
  name text not null,
  version integer not null,
  endpoint_id text not null,
  halted_at timestamp with time zone not null,
  constraint policy_canary_halt_pkey PRIMARY KEY (org_id, name, version, endpoint_id),
  constraint policy_canary_halt_org_id_name_version_fkey FOREIGN KEY (org_id, name, version) REFERENCES policy_version(org_id, name, version) ON DELETE CASCADE
);
CREATE TRIGGER policy_canary_halt_announces AFTER INSERT ON public.policy_canary_halt FOR EACH ROW EXECUTE FUNCTION announce_policy_change();
alter table public.policy_canary_halt enable row level security;
create policy everybody on public.policy_canary_halt as permissive for all to public using (true) with check (true);
create policy own_org on public.policy_canary_halt as restrictive for all to svc_tenant using ((org_id = current_setting('svc.org_id'::text, true))) with check ((org_id = current_setting('svc.org_id'::text, true)));
grant delete, insert, select, update on public.policy_canary_halt to svc_runtime;

create table public.policy_change (
  xid xid8 not null default pg_current_xact_id(),
  org_id text not null,
  at timestamp with time zone not null default clock_timestamp()
);
CREATE INDEX policy_change_xid ON public.policy_change USING btree (xid);
alter table public.policy_change enable row level security;
create policy everybody on public.policy_change as permissive for all to public using (true) with check (true);
create policy own_org on public.policy_change as restrictive for all to svc_tenant using ((org_id = current_setting('svc.org_id'::text, true))) with check ((org_id = current_setting('svc.org_id'::text, true)));
grant delete, insert, select, update on public.policy_change to svc_runtime;

create table public.policy_gateway (
  gateway_id text not null,
  process_name text not null,
  seen pg_snapshot not null,
  seen_at timestamp with time zone not null,
  session_id text,
  constraint policy_gateway_pkey PRIMARY KEY (gateway_id)
);
grant delete, insert, select, update on public.policy_gateway to svc_runtime;

create table public.policy_shadow_allowance (
  org_id text not null,
  daily_micro_usd bigint not null,
  updated_at timestamp with time zone not null,
  constraint policy_shadow_allowance_pkey PRIMARY KEY (org_id),
  constraint policy_shadow_allowance_daily_micro_usd_check CHECK ((daily_micro_usd > 0)),
  constraint policy_shadow_allowance_org_id_fkey FOREIGN KEY (org_id) REFERENCES org(id)
);
alter table public.policy_shadow_allowance enable row level security;
create policy everybody on public.policy_shadow_allowance as permissive for all to public using (true) with check (true);
create policy own_org on public.policy_shadow_allowance as restrictive for all to svc_tenant using ((org_id = current_setting('svc.org_id'::text, true))) with check ((org_id = current_setting('svc.org_id'::text, true)));
grant delete, insert, select, update on public.policy_shadow_allowance to svc_runtime;

create table public.policy_shadow_day (
  org_id text not null,
  environment text not null,
  name text not null,
  endpoint_id text not null,
  day date not null,
  runs integer not null,
  constraint policy_shadow_day_pkey PRIMARY KEY (org_id, environment, name, endpoint_id, day),
  constraint policy_shadow_day_runs_check CHECK ((runs >= 0))
);
CREATE INDEX policy_shadow_day_by_age ON public.policy_shadow_day USING btree (day);
alter table public.policy_shadow_day enable row level security;
create policy everybody on public.policy_shadow_day as permissive for all to public using (true) with check (true);
create policy own_org on public.policy_shadow_day as restrictive for all to svc_tenant using ((org_id = current_setting('svc.org_id'::text, true))) with check ((org_id = current_setting('svc.org_id'::text, true)));
grant delete, insert, select, update on public.policy_shadow_day to svc_runtime;

create table public.policy_shadow_expense (
  org_id text not null,
  day date not null,
  reserved_micro_usd bigint not null,
  cost_micro_usd bigint not null,
  runs bigint not null,
  constraint policy_shadow_expense_pkey PRIMARY KEY (org_id, day),
  constraint policy_shadow_expense_cost_micro_usd_check CHECK ((cost_micro_usd >= 0)),
  constraint policy_shadow_expense_reserved_micro_usd_check CHECK ((reserved_micro_usd >= 0)),
  constraint policy_shadow_expense_runs_check CHECK ((runs >= 0)),
  constraint policy_shadow_expense_org_id_fkey FOREIGN KEY (org_id) REFERENCES org(id)
);
alter table public.policy_shadow_expense enable row level security;
create policy everybody on public.policy_shadow_expense as permissive for all to public using (true) with check (true);
create policy own_org on public.policy_shadow_expense as restrictive for all to svc_tenant using ((org_id = current_setting('svc.org_id'::text, true))) with check ((org_id = current_setting('svc.org_id'::text, true)));
grant delete, insert, select, update on public.policy_shadow_expense to svc_runtime;

create table public.policy_version (
  org_id text not null,
  name text not null,
  version integer not null,
  yaml text not null,
  content_hash text not null,
  notices jsonb not null,
  managed_by text,
  created_by text not null,
  created_at timestamp with time zone not null,
  constraint policy_version_pkey PRIMARY KEY (org_id, name, version),
  constraint policy_version_content_hash_check CHECK ((content_hash ~ '^[0-9a-f]{64}$'::text)),
  constraint policy_version_version_check CHECK ((version > 0)),
  constraint policy_version_yaml_check CHECK (((octet_length(yaml) >= 1) AND (octet_length(yaml) <= 65536))),
  constraint policy_version_org_id_name_fkey FOREIGN KEY (org_id, name) REFERENCES policy(org_id, name)
);
CREATE TRIGGER policy_version_is_immutable BEFORE UPDATE ON public.policy_version FOR EACH ROW EXECUTE FUNCTION refuse_policy_version_change();
alter table public.policy_version enable row level security;
create policy everybody on public.policy_version as permissive for all to public using (true) with check (true);
create policy own_org on public.policy_version as restrictive for all to svc_tenant using ((org_id = current_setting('svc.org_id'::text, true))) with check ((org_id = current_setting('svc.org_id'::text, true)));
grant delete, insert, select, update on public.policy_version to svc_runtime;

create table public.project (
  id text not null,
  live_no integer not null default nextval('project_no'::regclass),
  sandbox_no integer not null default nextval('project_no'::regclass),
  org_id text not null,
  slug text not null,
  name text not null,
  environment text not null,
  status text not null default 'active'::text,
  budget_monthly_micro bigint,
  budget_hard boolean not null default true,
  alerts integer[] not null default '{50,80,100}'::integer[],
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  managed_by text,
  rpm integer,
  tpm integer,
  concurrency integer,
  constraint project_pkey PRIMARY KEY (id),
  constraint project_live_no_key UNIQUE (live_no),
  constraint project_sandbox_no_key UNIQUE (sandbox_no),
  constraint project_budget_monthly_micro_check CHECK ((budget_monthly_micro >= 0)),
  constraint project_concurrency_check CHECK ((concurrency > 0)),
  constraint project_environment_check CHECK ((environment = ANY (ARRAY['live'::text, 'test'::text]))),
  constraint project_id_check CHECK ((id ~ '^prj_[0-9A-HJKMNP-TV-Z]{26}$'::text)),
  constraint project_managed_by_check CHECK (((char_length(managed_by) >= 1) AND (char_length(managed_by) <= 512))),
  constraint project_name_check CHECK (((char_length(name) >= 1) AND (char_length(name) <= 120))),
  constraint project_rpm_check CHECK ((rpm > 0)),
  constraint project_slug_check CHECK ((slug ~ '^[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?$'::text)),
  constraint project_status_check CHECK ((status = ANY (ARRAY['active'::text, 'archived'::text]))),
  constraint project_tpm_check CHECK ((tpm > 0)),
  constraint project_org_id_fkey FOREIGN KEY (org_id) REFERENCES org(id)
);
CREATE UNIQUE INDEX project_slug_once ON public.project USING btree (org_id, slug) WHERE (status = 'active'::text);
CREATE TRIGGER project_announces AFTER UPDATE OF status, rpm, tpm, concurrency ON public.project FOR EACH ROW WHEN (((((old.status IS DISTINCT FROM new.status) OR (old.rpm IS DISTINCT FROM new.rpm)) OR (old.tpm IS DISTINCT FROM new.tpm)) OR (old.concurrency IS DISTINCT FROM new.concurrency))) EXECUTE FUNCTION announce_grant_change();
alter table public.project enable row level security;
create policy everybody on public.project as permissive for all to public using (true) with check (true);
create policy own_org on public.project as restrictive for all to svc_tenant using ((org_id = current_setting('svc.org_id'::text, true))) with check ((org_id = current_setting('svc.org_id'::text, true)));
grant delete, insert, select, update on public.project to svc_runtime;

create table public.rail_comparison (
  rail text not null,
  day date not null,
  asked_at timestamp with time zone,
  compared_at timestamp with time zone,
  failed_at timestamp with time zone,
  failure text,
  counts jsonb not null default '{}'::jsonb,
  findings jsonb not null default '[]'::jsonb,
  constraint rail_comparison_pkey PRIMARY KEY (rail, day),
  constraint rail_comparison_rail_check CHECK ((rail = ANY (ARRAY['rail-a'::text, 'rail-b'::text])))
);
grant insert, select, update on public.rail_comparison to svc_runtime;

create table public.rail_dispute (
  rail text not null,
  ref text not null,
  payment_ref text not null,
  dispute_id text,
  amount_minor bigint not null,
  currency text not null,
  status text not null,
  phase text not null,
  reason text not null,
  respond_by timestamp with time zone,
  seen_at timestamp with time zone not null,
  constraint rail_dispute_pkey PRIMARY KEY (rail, ref),
  constraint rail_dispute_amount_minor_check CHECK ((amount_minor > 0)),
  constraint rail_dispute_status_check CHECK ((status = ANY (ARRAY['open'::text, 'won'::text, 'lost'::text]))),
  constraint rail_dispute_dispute_id_fkey FOREIGN KEY (dispute_id) REFERENCES dispute(id)
);
CREATE INDEX rail_dispute_unclaimed ON public.rail_dispute USING btree (rail, payment_ref) WHERE (dispute_id IS NULL);
grant insert, select, update on public.rail_dispute to svc_runtime;

create table public.rail_event (
  rail text not null,
  event_id text not null,
  type text not null,
  topup_id text,
  payment_ref text,
  facts jsonb not null,
  answer jsonb not null,
  received_at timestamp with time zone not null,
  constraint rail_event_once PRIMARY KEY (rail, event_id),
  constraint rail_event_event_id_check CHECK (((char_length(event_id) >= 1) AND (char_length(event_id) <= 255))),
  constraint rail_event_rail_check CHECK ((rail = ANY (ARRAY['rail-a'::text, 'rail-b'::text])))
);
CREATE INDEX rail_event_latest ON public.rail_event USING btree (rail, received_at DESC);
CREATE INDEX rail_event_of_nobody ON public.rail_event USING btree (received_at) WHERE ((topup_id IS NULL) AND (payment_ref IS NULL));
grant insert, select on public.rail_event to svc_runtime;
grant update (topup_id, payment_ref, answer) on public.rail_event to svc_runtime;

create table public.rail_payout (
  rail text not null,
  ref text not null,
  amount_minor bigint not null,
  currency text not null,
  state text not null,
  bank_ref text,
  paid_at timestamp with time zone not null,
  constraint rail_payout_pkey PRIMARY KEY (rail, ref),
  constraint rail_payout_currency_check CHECK ((currency ~ '^[A-Z]{3}$'::text)),
  constraint rail_payout_rail_check CHECK ((rail = ANY (ARRAY['rail-a'::text, 'rail-b'::text]))),
  constraint rail_payout_state_check CHECK ((state = ANY (ARRAY['under_way'::text, 'paid'::text, 'failed'::text])))
);
grant insert, select, update on public.rail_payout to svc_runtime;

create table public.rail_refund (
  rail text not null,
  ref text not null,
  topup_id text,
  refund_id text,
  amount_minor bigint not null,
  currency text not null,
  status text not null,
  seen_at timestamp with time zone not null,
  payment_ref text,
  constraint rail_refund_pkey PRIMARY KEY (rail, ref),
  constraint rail_refund_amount_minor_check CHECK ((amount_minor > 0)),
  constraint rail_refund_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'refunded'::text, 'failed'::text]))),
  constraint rail_refund_refund_id_fkey FOREIGN KEY (refund_id) REFERENCES refund(id),
  constraint rail_refund_topup_id_fkey FOREIGN KEY (topup_id) REFERENCES topup(id)
);
CREATE INDEX rail_refund_early ON public.rail_refund USING btree (rail, payment_ref) WHERE (topup_id IS NULL);
CREATE INDEX rail_refund_unclaimed ON public.rail_refund USING btree (seen_at) WHERE (refund_id IS NULL);
grant insert, select, update on public.rail_refund to svc_runtime;

create table public.rail_task (
  rail_task_id bigint not null generated always as identity,
  rail text not null,
  kind text not null,
  ref text not null,
  topup_id text,
  created_at timestamp with time zone not null,
  attempts integer not null default 0,
  last_error text,
  next_at timestamp with time zone not null,
  done_at timestamp with time zone,
  constraint rail_task_pkey PRIMARY KEY (rail_task_id),
  constraint rail_task_once UNIQUE (rail, kind, ref),
  constraint rail_task_kind_check CHECK ((kind = ANY (ARRAY['refund_payment'::text, 'close_order'::text]))),
  constraint rail_task_rail_check CHECK ((rail = ANY (ARRAY['rail-a'::text, 'rail-b'::text]))),
  constraint rail_task_topup_id_fkey FOREIGN KEY (topup_id) REFERENCES topup(id)
);
CREATE INDEX rail_task_waiting ON public.rail_task USING btree (next_at) WHERE (done_at IS NULL);
grant delete, insert, select, update on public.rail_task to svc_runtime;

create table public.ranked_window (
  days integer not null,
  since date not null,
  constraint ranked_window_pkey PRIMARY KEY (days),
  constraint ranked_window_days_check CHECK (((days >= 1) AND (days <= 90)))
);
grant delete, insert, select, update on public.ranked_window to svc_runtime;

create table public.reconciliation_run (
  day date not null,
  organizations integer not null,
  variances integer not null,
  ended_at timestamp with time zone not null,
  constraint reconciliation_run_pkey PRIMARY KEY (day)
);
grant delete, insert, select, update on public.reconciliation_run to svc_runtime;

create table public.recovery_code (
  user_id text not null,
  hash bytea not null,
  created_at timestamp with time zone not null,
  hash_key_id bytea,
  constraint recovery_code_pkey PRIMARY KEY (user_id, hash),
  constraint recovery_code_hash_check CHECK ((octet_length(hash) = 32)),
  constraint recovery_code_user_id_fkey FOREIGN KEY (user_id) REFERENCES person(id)
);
grant delete, insert, select, update on public.recovery_code to svc_runtime;

create table public.redeem_batch (
  batch_id bigint not null generated always as identity,
  name text not null,
  amount_micro_usd bigint not null,
  codes integer not null,
  credit_days integer not null,
  valid_until timestamp with time zone not null,
  max_per_org integer not null default 1,
  country text,
  new_org_only boolean not null default false,
  created_by text not null,
  created_at timestamp with time zone not null,
  closed_at timestamp with time zone,
  constraint redeem_batch_pkey PRIMARY KEY (batch_id),
  constraint redeem_batch_name_once UNIQUE (name),
  constraint batch_amount_positive CHECK ((amount_micro_usd > 0)),
  constraint batch_has_codes CHECK (((codes >= 1) AND (codes <= 10000))),
  constraint redeem_batch_country_check CHECK ((country ~ '^[A-Z]{2}$'::text)),
  constraint redeem_batch_credit_days_check CHECK ((credit_days > 0)),
  constraint redeem_batch_max_per_org_check CHECK ((max_per_org > 0))
);
grant delete, insert, select, update on public.redeem_batch to svc_runtime;

create table public.redeem_code (
  code_hash bytea not null,
  batch_id bigint not null,
  redemption_id text,
  hash_key_id bytea,
  constraint redeem_code_pkey PRIMARY KEY (code_hash),
  constraint redeem_code_batch_id_fkey FOREIGN KEY (batch_id) REFERENCES redeem_batch(batch_id)
);
CREATE INDEX redeem_code_of_batch ON public.redeem_code USING btree (batch_id);
grant delete, insert, select, update on public.redeem_code to svc_runtime;

create table public.redeem_miss (
  subject text not null,
  misses integer not null,
  since timestamp with time zone not null,
  constraint redeem_miss_pkey PRIMARY KEY (subject)
);
grant delete, insert, select, update on public.redeem_miss to svc_runtime;

create table public.redemption (
  id text not null,
  org_id text not null,
  batch_id bigint,
  gift_id text,
  amount_micro_usd bigint not null,
  credit_expires_at timestamp with time zone not null,
  ledger_seq bigint,
  created_at timestamp with time zone not null,
  constraint redemption_pkey PRIMARY KEY (id),
  constraint redemption_of_gift_once UNIQUE (gift_id),
  constraint redemption_id_check CHECK ((id ~ '^red_[0-9A-HJKMNP-TV-Z]{26}$'::text)),
  constraint redemption_is_of_a_code_or_a_gift CHECK (((batch_id IS NULL) <> (gift_id IS NULL))),
  constraint redemption_batch_id_fkey FOREIGN KEY (batch_id) REFERENCES redeem_batch(batch_id),
  constraint redemption_gift_id_fkey FOREIGN KEY (gift_id) REFERENCES gift(id),
  constraint redemption_org_id_fkey FOREIGN KEY (org_id) REFERENCES org(id)
);
CREATE INDEX redemption_of_batch ON public.redemption USING btree (batch_id, org_id);
CREATE INDEX redemption_walk ON public.redemption USING btree (org_id, created_at DESC, id DESC);
alter table public.redemption enable row level security;
create policy everybody on public.redemption as permissive for all to public using (true) with check (true);
create policy own_org on public.redemption as restrictive for all to svc_tenant using ((org_id = current_setting('svc.org_id'::text, true))) with check ((org_id = current_setting('svc.org_id'::text, true)));
grant insert, select, update on public.redemption to svc_runtime;

create table public.refund (
  id text not null,
  org_id text not null,
  topup_id text not null,
  book_id bigint not null,
  gateway text not null,
  payment_ref text not null,
  gateway_ref text,
  currency text not null,
  amount_minor bigint not null,
  cgst_minor bigint not null,
  sgst_minor bigint not null,
  igst_minor bigint not null,
  total_minor bigint not null,
  fx_rate numeric(20,8) not null,
  credits_micro bigint not null,
  source text not null,
  reason text not null,
  requested_minor bigint,
  idempotency_key text,
  status text not null,
  failure_code text,
  credit_note_id text,
  sent_at timestamp with time zone,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  settled_at timestamp with time zone,
  constraint refund_pkey PRIMARY KEY (id),
  constraint refund_amount_minor_check CHECK ((amount_minor > 0)),
  constraint refund_cgst_minor_check CHECK ((cgst_minor >= 0)),
  constraint refund_credits_micro_check CHECK ((credits_micro >= 0)),
  constraint refund_currency_check CHECK ((currency ~ '^[A-Z]{3}$'::text)),
  constraint refund_failed_says_why CHECK (((status = 'failed'::text) = (failure_code IS NOT NULL))),
  constraint refund_gateway_check CHECK ((gateway = ANY (ARRAY['rail-a'::text, 'rail-b'::text]))),
  constraint refund_id_check CHECK ((id ~ '^rfd_[0-9A-HJKMNP-TV-Z]{26}$'::text)),
  constraint refund_igst_minor_check CHECK ((igst_minor >= 0)),
  constraint refund_refunded_has_everything CHECK (((status <> 'refunded'::text) OR ((credit_note_id IS NOT NULL) AND (gateway_ref IS NOT NULL)))),
  constraint refund_settled_iff_refunded CHECK (((settled_at IS NOT NULL) = (status = 'refunded'::text))),
  constraint refund_sgst_minor_check CHECK ((sgst_minor >= 0)),
  constraint refund_source_check CHECK ((source = ANY (ARRAY['request'::text, 'rail'::text]))),
  constraint refund_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'refunded'::text, 'failed'::text]))),
  constraint refund_total_is_the_sum CHECK ((total_minor = (((amount_minor + cgst_minor) + sgst_minor) + igst_minor))),
  constraint refund_credit_note_id_fkey FOREIGN KEY (credit_note_id) REFERENCES invoice(id),
  constraint refund_org_id_fkey FOREIGN KEY (org_id) REFERENCES org(id),
  constraint refund_topup_id_fkey FOREIGN KEY (topup_id) REFERENCES topup(id)
);
CREATE UNIQUE INDEX refund_key_once ON public.refund USING btree (topup_id, idempotency_key) WHERE (idempotency_key IS NOT NULL);
CREATE INDEX refund_of_staff ON public.refund USING btree (created_at DESC, id DESC) WHERE (status <> 'refunded'::text);
CREATE INDEX refund_of_topup ON public.refund USING btree (topup_id, created_at);
CREATE UNIQUE INDEX refund_one_at_a_time ON public.refund USING btree (topup_id) WHERE (status = 'pending'::text);
CREATE UNIQUE INDEX refund_rail_ref_once ON public.refund USING btree (gateway, gateway_ref) WHERE (gateway_ref IS NOT NULL);
CREATE INDEX refund_settled ON public.refund USING btree (gateway, settled_at) WHERE (settled_at IS NOT NULL);
CREATE INDEX refund_walk ON public.refund USING btree (org_id, created_at DESC, id DESC);
alter table public.refund enable row level security;
create policy everybody on public.refund as permissive for all to public using (true) with check (true);
create policy own_org on public.refund as restrictive for all to svc_tenant using ((org_id = current_setting('svc.org_id'::text, true))) with check ((org_id = current_setting('svc.org_id'::text, true)));
grant insert, select, update on public.refund to svc_runtime;

create table public.registration (
  id text not null,
  email text not null,
  email_key text not null,
  name text not null,
  password_hash text not null,
  hash bytea not null,
  mails integer not null default 1,
  expires_at timestamp with time zone not null,
  created_at timestamp with time zone not null,
  invite_code_id text,
  constraint registration_pkey PRIMARY KEY (id),
  constraint registration_hash_once UNIQUE (hash),
  constraint registration_email_check CHECK (((char_length(email) >= 3) AND (char_length(email) <= 254))),
  constraint registration_hash_check CHECK ((octet_length(hash) = 32)),
  constraint registration_id_check CHECK ((id ~ '^usr_[0-9A-HJKMNP-TV-Z]{26}$'::text)),
  constraint registration_mails_check CHECK ((mails >= 1))
);
CREATE INDEX registration_age ON public.registration USING btree (expires_at);
CREATE INDEX registration_of_address ON public.registration USING btree (email_key, created_at DESC);
grant delete, insert, select, update on public.registration to svc_runtime;

create table public.request_attempt (
  request_id text not null,
  call_ts timestamp with time zone not null,
  attempt integer not null,
  ts timestamp with time zone not null,
  provider text not null,
  endpoint_id text not null,
  pool_id text not null,
  key_hint text not null,
  outcome text not null,
  http_status integer not null,
  error_class text not null,
  ttft_ms double precision,
  duration_ms double precision,
  output_tokens bigint not null,
  constraint request_attempt_pkey PRIMARY KEY (request_id, attempt, call_ts),
  constraint request_attempt_outcome_check CHECK ((outcome = ANY (ARRAY['ok'::text, 'error'::text, 'timeout'::text, 'cancelled'::text, 'hedge_lost'::text])))
) partition by RANGE (call_ts);
grant delete, insert, select, update on public.request_attempt to svc_runtime;

create table public.request_attempt_default partition of request_attempt DEFAULT;
grant delete, insert, select, update on public.request_attempt_default to svc_runtime;

create table public.request_payload (
  request_id text not null,
  ts timestamp with time zone not null,
  org_id text not null,
  sealed bytea not null,
  constraint request_payload_pkey PRIMARY KEY (request_id, ts)
) partition by RANGE (ts);
CREATE INDEX request_payload_org ON ONLY public.request_payload USING btree (org_id, ts);
alter table public.request_payload enable row level security;
create policy everybody on public.request_payload as permissive for all to public using (true) with check (true);
create policy own_org on public.request_payload as restrictive for all to svc_tenant using ((org_id = current_setting('svc.org_id'::text, true))) with check ((org_id = current_setting('svc.org_id'::text, true)));
grant delete, insert, select, update on public.request_payload to svc_runtime;

create table public.request_payload_default partition of request_payload DEFAULT;
grant delete, insert, select, update on public.request_payload_default to svc_runtime;

create table public.request_row (
  request_id text not null,
  ts timestamp with time zone not null,
  org_id text not null,
  environment text not null,
  project_id text not null,
  key_id text not null,
  model text not null,
  provider text not null,
  endpoint_id text not null,
  region text not null,
  status text not null,
  http_status integer not null,
  error_code text not null,
  stop_reason text not null,
  attempts integer not null,
  input_tokens bigint not null,
  output_tokens bigint not null,
  cache_read_tokens bigint not null,
  cache_write_tokens bigint not null,
  reasoning_tokens bigint not null,
  usage_source text not null,
  cost_micro bigint not null,
  ttft_ms double precision,
  duration_ms double precision,
  upstream_ttft_ms double precision,
  gw_overhead_ms double precision,
  stream boolean not null,
  byok boolean not null,
  zdr boolean not null,
  logged boolean not null,
  app_id text not null,
  user_hash text not null,
  cell text not null,
  dialect_in text not null,
  upstream_model text not null,
  price_version_id text not null,
  bytes_in bigint not null,
  bytes_out bigint not null,
  tool_calls integer not null,
  has_images boolean not null,
  has_tools boolean not null,
  has_schema boolean not null,
  tags jsonb not null,
  user_agent text not null,
  client_ip_prefix text not null,
  route_trace jsonb,
  warnings jsonb not null,
  replays integer not null default 0,
  stored_at timestamp with time zone default clock_timestamp(),
  session_id text not null default ''::text,
  constraint request_row_pkey PRIMARY KEY (request_id, ts),
  constraint replays_not_negative CHECK ((replays >= 0)),
  constraint request_row_environment_check CHECK ((environment = ANY (ARRAY['live'::text, 'test'::text]))),
  constraint request_row_status_check CHECK ((status = ANY (ARRAY['ok'::text, 'error'::text, 'cancelled'::text, 'rejected'::text])))
) partition by RANGE (ts);
CREATE INDEX request_row_arrival ON ONLY public.request_row USING brin (stored_at) WITH (pages_per_range='16');
CREATE INDEX request_row_copy ON ONLY public.request_row USING btree (org_id, ((tags ->> 'shadow_of'::text)), ts) WHERE (tags ? 'shadow_of'::text);
CREATE INDEX request_row_session ON ONLY public.request_row USING btree (org_id, session_id, ts DESC, request_id DESC) WHERE (session_id <> ''::text);
CREATE INDEX request_row_user ON ONLY public.request_row USING btree (org_id, user_hash, ts DESC, request_id DESC) WHERE (user_hash <> ''::text);
CREATE INDEX request_row_walk ON ONLY public.request_row USING btree (org_id, environment, ts DESC, request_id DESC);
CREATE TRIGGER request_row_leaves_sums AFTER UPDATE OF user_hash, session_id, tags ON public.request_row FOR EACH ROW WHEN ((((old.user_hash IS DISTINCT FROM new.user_hash) OR (old.session_id IS DISTINCT FROM new.session_id)) OR (old.tags IS DISTINCT FROM new.tags))) EXECUTE FUNCTION request_row_is_unlinked();
alter table public.request_row enable row level security;
create policy everybody on public.request_row as permissive for all to public using (true) with check (true);
create policy own_org on public.request_row as restrictive for all to svc_tenant using ((org_id = current_setting('svc.org_id'::text, true))) with check ((org_id = current_setting('svc.org_id'::text, true)));
grant delete, insert, select, update on public.request_row to svc_runtime;

create table public.request_row_default partition of request_row DEFAULT;
CREATE TRIGGER request_row_leaves_sums AFTER UPDATE OF user_hash, session_id, tags ON public.request_row_default FOR EACH ROW WHEN ((((old.user_hash IS DISTINCT FROM new.user_hash) OR (old.session_id IS DISTINCT FROM new.session_id)) OR (old.tags IS DISTINCT FROM new.tags))) EXECUTE FUNCTION request_row_is_unlinked();
grant delete, insert, select, update on public.request_row_default to svc_runtime;

create table public.reseller_accrual (
  child_org_id text not null,
  month date not null,
  org_id text not null,
  usage_micro bigint not null default 0,
  markup_micro bigint not null default 0,
  burned_micro bigint not null default 0,
  paid_micro bigint not null default 0,
  written_off_micro bigint not null default 0,
  status text not null default 'open'::text,
  accrued_micro bigint,
  ledger_seq bigint,
  constraint reseller_accrual_pkey PRIMARY KEY (child_org_id, month),
  constraint accrual_adds_up CHECK (((usage_micro >= markup_micro) AND (markup_micro >= 0) AND (burned_micro >= paid_micro) AND (paid_micro >= 0) AND (written_off_micro >= 0))),
  constraint accrual_is_known_iff_credited CHECK (((status = 'credited'::text) = (accrued_micro IS NOT NULL))),
  constraint reseller_accrual_accrued_micro_check CHECK ((accrued_micro >= 0)),
  constraint reseller_accrual_month_check CHECK ((EXTRACT(day FROM month) = (1)::numeric)),
  constraint reseller_accrual_status_check CHECK ((status = ANY (ARRAY['open'::text, 'credited'::text]))),
  constraint reseller_accrual_child_org_id_fkey FOREIGN KEY (child_org_id) REFERENCES org(id),
  constraint reseller_accrual_org_id_fkey FOREIGN KEY (org_id) REFERENCES org(id)
);
CREATE INDEX reseller_accrual_due ON public.reseller_accrual USING btree (month) WHERE ((status = 'open'::text) OR (ledger_seq IS NULL));
CREATE INDEX reseller_accrual_walk ON public.reseller_accrual USING btree (org_id, month DESC, child_org_id);
alter table public.reseller_accrual enable row level security;
create policy everybody on public.reseller_accrual as permissive for all to public using (true) with check (true);
create policy own_org on public.reseller_accrual as restrictive for all to svc_tenant using ((org_id = current_setting('svc.org_id'::text, true))) with check ((org_id = current_setting('svc.org_id'::text, true)));
grant insert, select, update on public.reseller_accrual to svc_runtime;

create table public.reseller_accrual_lot (
  child_org_id text not null,
  lot_id text not null,
  org_id text not null,
  counted_micro bigint not null,
  constraint reseller_accrual_lot_pkey PRIMARY KEY (child_org_id, lot_id),
  constraint reseller_accrual_lot_counted_micro_check CHECK ((counted_micro > 0)),
  constraint reseller_accrual_lot_child_org_id_fkey FOREIGN KEY (child_org_id) REFERENCES org(id),
  constraint reseller_accrual_lot_org_id_fkey FOREIGN KEY (org_id) REFERENCES org(id)
);
alter table public.reseller_accrual_lot enable row level security;
create policy everybody on public.reseller_accrual_lot as permissive for all to public using (true) with check (true);
create policy own_org on public.reseller_accrual_lot as restrictive for all to svc_tenant using ((org_id = current_setting('svc.org_id'::text, true))) with check ((org_id = current_setting('svc.org_id'::text, true)));
grant delete, insert, select, update on public.reseller_accrual_lot to svc_runtime;

create table public.reseller_accrual_place (
  child_org_id text not null,
  org_id text not null,
  seq bigint not null default 0,
  constraint reseller_accrual_place_pkey PRIMARY KEY (child_org_id),
  constraint reseller_accrual_place_child_org_id_fkey FOREIGN KEY (child_org_id) REFERENCES org(id),
  constraint reseller_accrual_place_org_id_fkey FOREIGN KEY (org_id) REFERENCES org(id)
);
alter table public.reseller_accrual_place enable row level security;
create policy everybody on public.reseller_accrual_place as permissive for all to public using (true) with check (true);
create policy own_org on public.reseller_accrual_place as restrictive for all to svc_tenant using ((org_id = current_setting('svc.org_id'::text, true))) with check ((org_id = current_setting('svc.org_id'::text, true)));
grant delete, insert, select, update on public.reseller_accrual_place to svc_runtime;

create table public.reseller_allocation (
  id text not null,
  org_id text not null,
  child_org_id text not null,
  amount_micro_usd bigint not null,
  reclaimed_micro_usd bigint not null default 0,
  note text not null,
  once text,
  status text not null default 'pending'::text,
  ledger_seq bigint,
  child_ledger_seq bigint,
  lot_id text,
  expires_at timestamp with time zone not null,
  created_by text not null,
  created_at timestamp with time zone not null,
  constraint reseller_allocation_pkey PRIMARY KEY (id),
  constraint allocation_once UNIQUE (org_id, once),
  constraint allocation_gives_back_at_most_itself CHECK (((reclaimed_micro_usd >= 0) AND (reclaimed_micro_usd <= amount_micro_usd))),
  constraint allocation_is_booked_iff_made CHECK (((status = 'made'::text) = (ledger_seq IS NOT NULL))),
  constraint reseller_allocation_amount_micro_usd_check CHECK ((amount_micro_usd > 0)),
  constraint reseller_allocation_id_check CHECK ((id ~ '^alc_[0-9A-HJKMNP-TV-Z]{26}$'::text)),
  constraint reseller_allocation_note_check CHECK ((char_length(note) <= 500)),
  constraint reseller_allocation_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'made'::text]))),
  constraint reseller_allocation_child_org_id_fkey FOREIGN KEY (child_org_id) REFERENCES org(id),
  constraint reseller_allocation_org_id_fkey FOREIGN KEY (org_id) REFERENCES org(id)
);
CREATE INDEX reseller_allocation_due ON public.reseller_allocation USING btree (created_at) WHERE ((status = 'pending'::text) OR (child_ledger_seq IS NULL));
CREATE INDEX reseller_allocation_walk ON public.reseller_allocation USING btree (child_org_id, created_at DESC, id DESC);
alter table public.reseller_allocation enable row level security;
create policy everybody on public.reseller_allocation as permissive for all to public using (true) with check (true);
create policy own_org on public.reseller_allocation as restrictive for all to svc_tenant using ((org_id = current_setting('svc.org_id'::text, true))) with check ((org_id = current_setting('svc.org_id'::text, true)));
grant delete, insert, select, update on public.reseller_allocation to svc_runtime;

create table public.reseller_announcement (
  id text not null,
  org_id text not null,
  title text not null,
  body text not null,
  severity text not null,
  starts_at timestamp with time zone not null,
  ends_at timestamp with time zone,
  created_by text not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint reseller_announcement_pkey PRIMARY KEY (id),
  constraint reseller_announcement_body_check CHECK (((char_length(body) >= 1) AND (char_length(body) <= 10000))),
  constraint reseller_announcement_ends_after_it_starts CHECK ((ends_at > starts_at)),
  constraint reseller_announcement_id_check CHECK ((id ~ '^ann_[0-9A-HJKMNP-TV-Z]{26}$'::text)),
  constraint reseller_announcement_severity_check CHECK ((severity = ANY (ARRAY['info'::text, 'warning'::text, 'critical'::text]))),
  constraint reseller_announcement_title_check CHECK (((char_length(title) >= 1) AND (char_length(title) <= 120))),
  constraint reseller_announcement_org_id_fkey FOREIGN KEY (org_id) REFERENCES org(id)
);
CREATE INDEX reseller_announcement_walk ON public.reseller_announcement USING btree (org_id, created_at DESC, id DESC);
alter table public.reseller_announcement enable row level security;
create policy everybody on public.reseller_announcement as permissive for all to public using (true) with check (true);
create policy own_org on public.reseller_announcement as restrictive for all to svc_tenant using ((org_id = current_setting('svc.org_id'::text, true))) with check ((org_id = current_setting('svc.org_id'::text, true)));
grant delete, insert, select, update on public.reseller_announcement to svc_runtime;

create table public.reseller_invoicing (
  org_id text not null,
  legal_name text not null,
  address jsonb not null,
  state_code text not null,
  gstin text,
  pan text,
  lut text,
  sac text not null,
  email text,
  website text,
  series text not null,
  enabled boolean not null,
  updated_at timestamp with time zone not null,
  constraint reseller_invoicing_pkey PRIMARY KEY (org_id),
  constraint reseller_invoicing_address_has_lines CHECK (((jsonb_typeof(address) = 'array'::text) AND ((jsonb_array_length(address) >= 1) AND (jsonb_array_length(address) <= 6)))),
  constraint reseller_invoicing_gstin_is_of_state_and_pan CHECK (((gstin IS NULL) OR (("left"(gstin, 2) = state_code) AND (substr(gstin, 3, 10) = pan)))),
  constraint reseller_invoicing_legal_name_check CHECK (((char_length(legal_name) >= 1) AND (char_length(legal_name) <= 200))),
  constraint reseller_invoicing_lut_needs_gstin CHECK (((lut IS NULL) OR (gstin IS NOT NULL))),
  constraint reseller_invoicing_sac_check CHECK ((sac ~ '^\d{6}$'::text)),
  constraint reseller_invoicing_series_check CHECK ((series ~ '^[A-Z][A-Z0-9]{0,2}$'::text)),
  constraint reseller_invoicing_state_code_check CHECK ((state_code ~ '^\d\d$'::text)),
  constraint reseller_invoicing_org_id_fkey FOREIGN KEY (org_id) REFERENCES org(id)
);
alter table public.reseller_invoicing enable row level security;
create policy everybody on public.reseller_invoicing as permissive for all to public using (true) with check (true);
create policy own_org on public.reseller_invoicing as restrictive for all to svc_tenant using ((org_id = current_setting('svc.org_id'::text, true))) with check ((org_id = current_setting('svc.org_id'::text, true)));
grant insert, select, update on public.reseller_invoicing to svc_runtime;

create table public.reseller_month (
  child_org_id text not null,
  month date not null,
  org_id text not null,
  charged_micro bigint not null default 0,
  sold_micro bigint not null default 0,
  refunded_micro bigint not null default 0,
  given_micro bigint not null default 0,
  reclaimed_micro bigint not null default 0,
  other_micro bigint not null default 0,
  constraint reseller_month_pkey PRIMARY KEY (child_org_id, month),
  constraint reseller_month_month_check CHECK ((EXTRACT(day FROM month) = (1)::numeric)),
  constraint reseller_month_child_org_id_fkey FOREIGN KEY (child_org_id) REFERENCES org(id),
  constraint reseller_month_org_id_fkey FOREIGN KEY (org_id) REFERENCES org(id)
);
CREATE INDEX reseller_month_walk ON public.reseller_month USING btree (org_id, month, child_org_id);
alter table public.reseller_month enable row level security;
create policy everybody on public.reseller_month as permissive for all to public using (true) with check (true);
create policy own_org on public.reseller_month as restrictive for all to svc_tenant using ((org_id = current_setting('svc.org_id'::text, true))) with check ((org_id = current_setting('svc.org_id'::text, true)));
grant insert, select, update on public.reseller_month to svc_runtime;

create table public.reseller_reclaim (
  allocation_id text not null,
  reclaim_no integer not null,
  org_id text not null,
  amount_micro_usd bigint,
  created_by text not null,
  created_at timestamp with time zone not null,
  constraint reseller_reclaim_pkey PRIMARY KEY (allocation_id, reclaim_no),
  constraint reseller_reclaim_amount_micro_usd_check CHECK ((amount_micro_usd >= 0)),
  constraint reseller_reclaim_reclaim_no_check CHECK ((reclaim_no > 0)),
  constraint reseller_reclaim_allocation_id_fkey FOREIGN KEY (allocation_id) REFERENCES reseller_allocation(id),
  constraint reseller_reclaim_org_id_fkey FOREIGN KEY (org_id) REFERENCES org(id)
);
CREATE INDEX reseller_reclaim_due ON public.reseller_reclaim USING btree (created_at) WHERE (amount_micro_usd IS NULL);
alter table public.reseller_reclaim enable row level security;
create policy everybody on public.reseller_reclaim as permissive for all to public using (true) with check (true);
create policy own_org on public.reseller_reclaim as restrictive for all to svc_tenant using ((org_id = current_setting('svc.org_id'::text, true))) with check ((org_id = current_setting('svc.org_id'::text, true)));
grant insert, select, update on public.reseller_reclaim to svc_runtime;

create table public.reseller_terms (
  org_id text not null,
  default_tier_id text,
  updated_at timestamp with time zone not null,
  constraint reseller_terms_pkey PRIMARY KEY (org_id),
  constraint reseller_terms_default_tier_id_fkey FOREIGN KEY (default_tier_id) REFERENCES reseller_tier(id),
  constraint reseller_terms_org_id_fkey FOREIGN KEY (org_id) REFERENCES org(id)
);
alter table public.reseller_terms enable row level security;
create policy everybody on public.reseller_terms as permissive for all to public using (true) with check (true);
create policy own_org on public.reseller_terms as restrictive for all to svc_tenant using ((org_id = current_setting('svc.org_id'::text, true))) with check ((org_id = current_setting('svc.org_id'::text, true)));
grant delete, insert, select, update on public.reseller_terms to svc_runtime;

create table public.reseller_tier (
  id text not null,
  org_id text not null,
  name text not null,
  markup_bps integer not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint reseller_tier_pkey PRIMARY KEY (id),
  constraint reseller_tier_name_once UNIQUE (org_id, name),
  constraint reseller_tier_adds_and_never_takes CHECK (((markup_bps >= 0) AND (markup_bps <= 10000))),
  constraint reseller_tier_id_check CHECK ((id ~ '^tier_[0-9A-HJKMNP-TV-Z]{26}$'::text)),
  constraint reseller_tier_name_check CHECK (((char_length(name) >= 1) AND (char_length(name) <= 120))),
  constraint reseller_tier_org_id_fkey FOREIGN KEY (org_id) REFERENCES org(id)
);
CREATE UNIQUE INDEX reseller_tier_walk ON public.reseller_tier USING btree (org_id, created_at DESC, id DESC);
CREATE TRIGGER reseller_tier_announces AFTER UPDATE OF markup_bps ON public.reseller_tier FOR EACH ROW EXECUTE FUNCTION announce_tier_change();
alter table public.reseller_tier enable row level security;
create policy everybody on public.reseller_tier as permissive for all to public using (true) with check (true);
create policy own_org on public.reseller_tier as restrictive for all to svc_tenant using ((org_id = current_setting('svc.org_id'::text, true))) with check ((org_id = current_setting('svc.org_id'::text, true)));
grant delete, insert, select, update on public.reseller_tier to svc_runtime;

create table public.sandbox_refill (
  org_id text not null,
  day date not null,
  refills integer not null,
  constraint sandbox_refill_pkey PRIMARY KEY (org_id, day),
  constraint sandbox_refill_refills_check CHECK (((refills >= 1) AND (refills <= 10))),
  constraint sandbox_refill_org_id_fkey FOREIGN KEY (org_id) REFERENCES org(id)
);
alter table public.sandbox_refill enable row level security;
create policy everybody on public.sandbox_refill as permissive for all to public using (true) with check (true);
create policy own_org on public.sandbox_refill as restrictive for all to svc_tenant using ((org_id = current_setting('svc.org_id'::text, true))) with check ((org_id = current_setting('svc.org_id'::text, true)));
grant delete, insert, select, update on public.sandbox_refill to svc_runtime;

create table public.scim_group (
  id text not null,
  org_id text not null,
  display_name text not null,
  external_id text,
  version integer not null default 1,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint scim_group_pkey PRIMARY KEY (id),
  constraint scim_group_org_id_id_key UNIQUE (org_id, id),
  constraint scim_group_display_name_check CHECK (((char_length(display_name) >= 1) AND (char_length(display_name) <= 256))),
  constraint scim_group_external_id_check CHECK ((char_length(external_id) <= 256)),
  constraint scim_group_id_check CHECK ((id ~ '^grp_[0-9A-HJKMNP-TV-Z]{26}$'::text)),
  constraint scim_group_org_id_fkey FOREIGN KEY (org_id) REFERENCES org(id)
);
CREATE UNIQUE INDEX scim_group_name_once ON public.scim_group USING btree (org_id, lower(display_name));
alter table public.scim_group enable row level security;
create policy everybody on public.scim_group as permissive for all to public using (true) with check (true);
create policy own_org on public.scim_group as restrictive for all to svc_tenant using ((org_id = current_setting('svc.org_id'::text, true))) with check ((org_id = current_setting('svc.org_id'::text, true)));
grant delete, insert, select, update on public.scim_group to svc_runtime;

create table public.scim_group_member (
  org_id text not null,
  group_id text not null,
  user_id text not null,
  constraint scim_group_member_pkey PRIMARY KEY (org_id, group_id, user_id),
  constraint scim_group_member_org_id_group_id_fkey FOREIGN KEY (org_id, group_id) REFERENCES scim_group(org_id, id) ON DELETE CASCADE,
  constraint scim_group_member_org_id_user_id_fkey FOREIGN KEY (org_id, user_id) REFERENCES org_member(org_id, user_id) ON DELETE CASCADE
);
CREATE INDEX scim_group_member_of_user ON public.scim_group_member USING btree (org_id, user_id);
alter table public.scim_group_member enable row level security;
create policy everybody on public.scim_group_member as permissive for all to public using (true) with check (true);
create policy own_org on public.scim_group_member as restrictive for all to svc_tenant using ((org_id = current_setting('svc.org_id'::text, true))) with check ((org_id = current_setting('svc.org_id'::text, true)));
grant delete, insert, select, update on public.scim_group_member to svc_runtime;

create table public.scim_log (
  id bigint not null generated always as identity,
  org_id text not null,
  token_id text not null,
  at timestamp with time zone not null,
  method text not null,
  path text not null,
  resource_type text not null,
  resource_id text not null,
  status integer not null,
  reason text not null,
  constraint scim_log_pkey PRIMARY KEY (id),
  constraint scim_log_org_id_fkey FOREIGN KEY (org_id) REFERENCES org(id)
);
CREATE INDEX scim_log_age ON public.scim_log USING btree (at);
CREATE INDEX scim_log_of_org ON public.scim_log USING btree (org_id, id DESC);
alter table public.scim_log enable row level security;
create policy everybody on public.scim_log as permissive for all to public using (true) with check (true);
create policy own_org on public.scim_log as restrictive for all to svc_tenant using ((org_id = current_setting('svc.org_id'::text, true))) with check ((org_id = current_setting('svc.org_id'::text, true)));
grant delete, insert, select, update on public.scim_log to svc_runtime;

create table public.scim_token (
  id text not null,
  org_id text not null,
  hash bytea not null,
  hint text not null,
  created_at timestamp with time zone not null,
  last_used_at timestamp with time zone,
  constraint scim_token_pkey PRIMARY KEY (id),
  constraint scim_token_hash_once UNIQUE (hash),
  constraint scim_token_hash_check CHECK ((octet_length(hash) = 32)),
  constraint scim_token_id_check CHECK ((id ~ '^scim_[0-9A-HJKMNP-TV-Z]{26}$'::text)),
  constraint scim_token_org_id_fkey FOREIGN KEY (org_id) REFERENCES org(id)
);
CREATE INDEX scim_token_of_org ON public.scim_token USING btree (org_id, created_at);
alter table public.scim_token enable row level security;
create policy everybody on public.scim_token as permissive for all to public using (true) with check (true);
create policy own_org on public.scim_token as restrictive for all to svc_tenant using ((org_id = current_setting('svc.org_id'::text, true))) with check ((org_id = current_setting('svc.org_id'::text, true)));
grant delete, insert, select, update on public.scim_token to svc_runtime;

create table public.scim_user (
  org_id text not null,
  user_id text not null,
  user_name text not null,
  user_name_key text not null,
  external_id text,
  attributes jsonb not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint scim_user_pkey PRIMARY KEY (org_id, user_id),
  constraint scim_user_name_once UNIQUE (org_id, user_name_key),
  constraint scim_user_external_id_check CHECK ((char_length(external_id) <= 256)),
  constraint scim_user_user_name_check CHECK (((char_length(user_name) >= 3) AND (char_length(user_name) <= 254))),
  constraint scim_user_org_id_fkey FOREIGN KEY (org_id) REFERENCES org(id),
  constraint scim_user_org_id_user_id_fkey FOREIGN KEY (org_id, user_id) REFERENCES org_member(org_id, user_id) ON DELETE CASCADE,
  constraint scim_user_user_id_fkey FOREIGN KEY (user_id) REFERENCES person(id)
);
CREATE INDEX scim_user_external ON public.scim_user USING btree (org_id, external_id) WHERE (external_id IS NOT NULL);
alter table public.scim_user enable row level security;
create policy everybody on public.scim_user as permissive for all to public using (true) with check (true);
create policy own_org on public.scim_user as restrictive for all to svc_tenant using ((org_id = current_setting('svc.org_id'::text, true))) with check ((org_id = current_setting('svc.org_id'::text, true)));
grant delete, insert, select, update on public.scim_user to svc_runtime;

create table public.session (
  id text not null,
  hash bytea not null,
  user_id text not null,
  org_id text,
  method text not null,
  transport text not null,
  two_factor boolean not null,
  ip_prefix text,
  user_agent text,
  proved_at timestamp with time zone not null,
  created_at timestamp with time zone not null,
  last_seen_at timestamp with time zone not null,
  idle_seconds integer not null,
  expires_at timestamp with time zone not null,
  sso_org_id text,
  sso_subject_hash bytea,
  sso_sid_hash bytea,
  constraint session_pkey PRIMARY KEY (id),
  constraint session_hash_once UNIQUE (hash),
  constraint session_hash_check CHECK ((octet_length(hash) = 32)),
  constraint session_id_check CHECK ((id ~ '^ses_[0-9A-HJKMNP-TV-Z]{26}$'::text)),
  constraint session_idle_seconds_check CHECK ((idle_seconds > 0)),
  constraint session_method_check CHECK ((method = ANY (ARRAY['password'::text, 'saml'::text, 'oidc'::text]))),
  constraint session_of_provider CHECK (((method = 'password'::text) = (sso_org_id IS NULL))),
  constraint session_of_sid CHECK (((sso_sid_hash IS NULL) OR (sso_subject_hash IS NOT NULL))),
  constraint session_of_subject CHECK (((sso_subject_hash IS NULL) OR (sso_org_id IS NOT NULL))),
  constraint session_sso_sid_hash_check CHECK ((octet_length(sso_sid_hash) = 32)),
  constraint session_sso_subject_hash_check CHECK ((octet_length(sso_subject_hash) = 32)),
  constraint session_transport_check CHECK ((transport = ANY (ARRAY['cookie'::text, 'bearer'::text]))),
  constraint session_user_agent_check CHECK ((char_length(user_agent) <= 256)),
  constraint session_org_id_fkey FOREIGN KEY (org_id) REFERENCES org(id),
  constraint session_sso_org_id_fkey FOREIGN KEY (sso_org_id) REFERENCES org(id),
  constraint session_user_id_fkey FOREIGN KEY (user_id) REFERENCES person(id)
);
CREATE INDEX session_expiry ON public.session USING btree (expires_at);
CREATE INDEX session_of_org ON public.session USING btree (org_id, created_at DESC) WHERE (org_id IS NOT NULL);
CREATE INDEX session_of_person ON public.session USING btree (user_id, created_at);
CREATE INDEX session_of_sso_org ON public.session USING btree (sso_org_id) WHERE (sso_org_id IS NOT NULL);
grant delete, insert, select, update on public.session to svc_runtime;

create table public.settings (
  name text not null,
  value jsonb not null,
  updated_at timestamp with time zone not null,
  constraint settings_pkey PRIMARY KEY (name)
);
grant delete, insert, select, update on public.settings to svc_runtime;

create table public.settlement_line (
  rail text not null,
  kind text not null,
  ref text not null,
  source_ref text,
  payment_ref text,
  topup_id text,
  amount_minor bigint not null,
  fee_minor bigint not null,
  extra_fee_minor bigint not null,
  currency text not null,
  payout_ref text not null,
  settled_at timestamp with time zone not null,
  seen_at timestamp with time zone not null,
  constraint settlement_line_pkey PRIMARY KEY (rail, kind, ref),
  constraint settlement_line_currency_check CHECK ((currency ~ '^[A-Z]{3}$'::text)),
  constraint settlement_line_kind_check CHECK ((kind = ANY (ARRAY['payment'::text, 'refund'::text, 'refund_back'::text, 'dispute'::text, 'dispute_back'::text, 'fee'::text, 'other'::text]))),
  constraint settlement_line_rail_check CHECK ((rail = ANY (ARRAY['rail-a'::text, 'rail-b'::text]))),
  constraint settlement_line_ref_check CHECK (((char_length(ref) >= 1) AND (char_length(ref) <= 255))),
  constraint settlement_line_topup_id_fkey FOREIGN KEY (topup_id) REFERENCES topup(id)
);
CREATE INDEX settlement_line_fees ON public.settlement_line USING btree (settled_at) WHERE (extra_fee_minor <> 0);
CREATE INDEX settlement_line_of_payment ON public.settlement_line USING btree (rail, payment_ref) WHERE (kind = 'payment'::text);
CREATE INDEX settlement_line_of_payout ON public.settlement_line USING btree (rail, payout_ref);
CREATE INDEX settlement_line_of_source ON public.settlement_line USING btree (rail, source_ref) WHERE (kind = 'refund'::text);
grant insert, select on public.settlement_line to svc_runtime;

create table public.shadow_hour (
  org_id text not null,
  environment text not null,
  name text not null,
  version integer not null,
  shadow_endpoint text not null,
  primary_endpoint text not null,
  bill text not null,
  hour timestamp with time zone not null,
  runs bigint not null,
  errors bigint not null,
  stop_mismatch bigint not null,
  primary_cost_micro bigint not null,
  shadow_cost_micro bigint not null,
  ttft_runs bigint not null,
  primary_ttft_ms double precision not null,
  shadow_ttft_ms double precision not null,
  constraint shadow_hour_pkey PRIMARY KEY (org_id, environment, name, version, shadow_endpoint, primary_endpoint, bill, hour),
  constraint shadow_hour_bill_check CHECK ((bill = ANY (ARRAY['org'::text, 'platform'::text]))),
  constraint shadow_hour_org_id_name_version_fkey FOREIGN KEY (org_id, name, version) REFERENCES policy_version(org_id, name, version) ON DELETE CASCADE
);
CREATE INDEX shadow_hour_by_age ON public.shadow_hour USING btree (hour);
alter table public.shadow_hour enable row level security;
create policy everybody on public.shadow_hour as permissive for all to public using (true) with check (true);
create policy own_org on public.shadow_hour as restrictive for all to svc_tenant using ((org_id = current_setting('svc.org_id'::text, true))) with check ((org_id = current_setting('svc.org_id'::text, true)));
grant delete, insert, select, update on public.shadow_hour to svc_runtime;

create table public.shadow_sample (
  org_id text not null,
  environment text not null,
  name text not null,
  version integer not null,
  shadow_endpoint text not null,
  primary_endpoint text not null,
  bill text not null,
  hour timestamp with time zone not null,
  failed boolean not null,
  stop_mismatch boolean not null,
  primary_cost_micro bigint not null,
  shadow_cost_micro bigint not null,
  primary_ttft_ms double precision,
  shadow_ttft_ms double precision,
  constraint shadow_sample_bill_check CHECK ((bill = ANY (ARRAY['org'::text, 'platform'::text])))
);
alter table public.shadow_sample enable row level security;
create policy everybody on public.shadow_sample as permissive for all to public using (true) with check (true);
create policy own_org on public.shadow_sample as restrictive for all to svc_tenant using ((org_id = current_setting('svc.org_id'::text, true))) with check ((org_id = current_setting('svc.org_id'::text, true)));
grant delete, insert, select, update on public.shadow_sample to svc_runtime;

create table public.sign_in_challenge (
  hash bytea not null,
  subject text not null,
  misses integer not null default 0,
  expires_at timestamp with time zone not null,
  constraint sign_in_challenge_pkey PRIMARY KEY (hash),
  constraint sign_in_challenge_hash_check CHECK ((octet_length(hash) = 32)),
  constraint sign_in_challenge_misses_check CHECK (((misses >= 0) AND (misses <= 5)))
);
CREATE INDEX sign_in_challenge_expiry ON public.sign_in_challenge USING btree (expires_at);
grant delete, insert, select, update on public.sign_in_challenge to svc_runtime;

create table public.sign_in_throttle (
  kind text not null,
  subject bytea not null,
  window_start timestamp with time zone not null,
  failures integer not null,
  locks integer not null default 0,
  locked_until timestamp with time zone,
  constraint sign_in_throttle_pkey PRIMARY KEY (kind, subject),
  constraint sign_in_throttle_failures_check CHECK ((failures >= 0)),
  constraint sign_in_throttle_kind_check CHECK ((kind = ANY (ARRAY['account'::text, 'address'::text, 'totp'::text, 'staff'::text, 'link'::text, 'asking'::text, 'mailing'::text, 'access'::text]))),
  constraint sign_in_throttle_subject_check CHECK ((octet_length(subject) = 32))
);
CREATE INDEX sign_in_throttle_age ON public.sign_in_throttle USING btree (window_start);
grant delete, insert, select, update on public.sign_in_throttle to svc_runtime;

create table public.sso_alias (
  org_id text not null,
  alias text not null,
  constraint sso_alias_pkey PRIMARY KEY (org_id),
  constraint sso_alias_alias_key UNIQUE (alias),
  constraint sso_alias_alias_check CHECK ((alias ~ '^[a-z0-9](?:[a-z0-9-]{0,44}[a-z0-9])?$'::text)),
  constraint sso_alias_org_id_fkey FOREIGN KEY (org_id) REFERENCES org(id)
);
alter table public.sso_alias enable row level security;
create policy everybody on public.sso_alias as permissive for all to public using (true) with check (true);
create policy own_org on public.sso_alias as restrictive for all to svc_tenant using ((org_id = current_setting('svc.org_id'::text, true))) with check ((org_id = current_setting('svc.org_id'::text, true)));
grant delete, insert, select, update on public.sso_alias to svc_runtime;

create table public.sso_assertion (
  org_id text not null,
  hash bytea not null,
  expires_at timestamp with time zone not null,
  constraint sso_assertion_pkey PRIMARY KEY (org_id, hash),
  constraint sso_assertion_hash_check CHECK ((octet_length(hash) = 32)),
  constraint sso_assertion_org_id_fkey FOREIGN KEY (org_id) REFERENCES org(id)
);
CREATE INDEX sso_assertion_expiry ON public.sso_assertion USING btree (expires_at);
alter table public.sso_assertion enable row level security;
create policy everybody on public.sso_assertion as permissive for all to public using (true) with check (true);
create policy own_org on public.sso_assertion as restrictive for all to svc_tenant using ((org_id = current_setting('svc.org_id'::text, true))) with check ((org_id = current_setting('svc.org_id'::text, true)));
grant delete, insert, select, update on public.sso_assertion to svc_runtime;

create table public.sso_connection (
  org_id text not null,
  kind text not null,
  display_name text not null,
  status text not null,
  enforce boolean not null,
  default_role text not null,
  role_map jsonb not null,
  config jsonb not null,
  metadata jsonb not null,
  client_secret bytea,
  last_test jsonb,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  metadata_at timestamp with time zone,
  metadata_fault text,
  host text,
  constraint sso_connection_pkey PRIMARY KEY (org_id),
  constraint sso_connection_default_role_check CHECK ((default_role = ANY (ARRAY['admin'::text, 'developer'::text, 'billing'::text, 'viewer'::text]))),
  constraint sso_connection_display_name_check CHECK (((char_length(display_name) >= 1) AND (char_length(display_name) <= 120))),
  constraint sso_connection_host_check CHECK (((host <> ''::text) AND (char_length(host) <= 253))),
  constraint sso_connection_kind_check CHECK ((kind = ANY (ARRAY['oidc'::text, 'saml'::text]))),
  constraint sso_connection_status_check CHECK ((status = ANY (ARRAY['draft'::text, 'active'::text, 'disabled'::text]))),
  constraint sso_connection_org_id_fkey FOREIGN KEY (org_id) REFERENCES org(id)
);
CREATE INDEX sso_connection_of_metadata_url ON public.sso_connection USING btree (metadata_at) WHERE ((config ->> 'metadata_url'::text) IS NOT NULL);
alter table public.sso_connection enable row level security;
create policy everybody on public.sso_connection as permissive for all to public using (true) with check (true);
create policy own_org on public.sso_connection as restrictive for all to svc_tenant using ((org_id = current_setting('svc.org_id'::text, true))) with check ((org_id = current_setting('svc.org_id'::text, true)));
grant delete, insert, select, update on public.sso_connection to svc_runtime;

create table public.sso_domain (
  org_id text not null,
  domain text not null,
  token text not null,
  created_at timestamp with time zone not null,
  constraint sso_domain_pkey PRIMARY KEY (org_id, domain),
  constraint sso_domain_domain_check CHECK (((domain ~ '^[a-z0-9-]+([.][a-z0-9-]+)+$'::text) AND (char_length(domain) <= 238))),
  constraint sso_domain_token_check CHECK ((token ~ '^svc-verify=[0-9A-Za-z]{32}$'::text)),
  constraint sso_domain_org_id_fkey FOREIGN KEY (org_id) REFERENCES org(id)
);
alter table public.sso_domain enable row level security;
create policy everybody on public.sso_domain as permissive for all to public using (true) with check (true);
create policy own_org on public.sso_domain as restrictive for all to svc_tenant using ((org_id = current_setting('svc.org_id'::text, true))) with check ((org_id = current_setting('svc.org_id'::text, true)));
grant delete, insert, select, update on public.sso_domain to svc_runtime;

create table public.sso_domain_proof (
  domain text not null,
  org_id text not null,
  verified_at timestamp with time zone not null,
  checked_at timestamp with time zone not null,
  misses integer not null default 0,
  constraint sso_domain_proof_pkey PRIMARY KEY (domain),
  constraint sso_domain_proof_misses_check CHECK ((misses >= 0)),
  constraint sso_domain_proof_org_id_domain_fkey FOREIGN KEY (org_id, domain) REFERENCES sso_domain(org_id, domain) ON DELETE CASCADE
);
CREATE INDEX sso_domain_proof_age ON public.sso_domain_proof USING btree (checked_at);
CREATE INDEX sso_domain_proof_of_org ON public.sso_domain_proof USING btree (org_id);
alter table public.sso_domain_proof enable row level security;
create policy everybody on public.sso_domain_proof as permissive for all to public using (true) with check (true);
create policy own_org on public.sso_domain_proof as restrictive for all to svc_tenant using ((org_id = current_setting('svc.org_id'::text, true))) with check ((org_id = current_setting('svc.org_id'::text, true)));
grant delete, insert, select, update on public.sso_domain_proof to svc_runtime;

create table public.sso_flow (
  hash bytea not null,
  org_id text not null,
  browser bytea not null,
  sealed bytea not null,
  expires_at timestamp with time zone not null,
  constraint sso_flow_pkey PRIMARY KEY (hash),
  constraint sso_flow_browser_check CHECK ((octet_length(browser) = 32)),
  constraint sso_flow_hash_check CHECK ((octet_length(hash) = 32)),
  constraint sso_flow_org_id_fkey FOREIGN KEY (org_id) REFERENCES org(id)
);
CREATE INDEX sso_flow_expiry ON public.sso_flow USING btree (expires_at);
alter table public.sso_flow enable row level security;
create policy everybody on public.sso_flow as permissive for all to public using (true) with check (true);
create policy own_org on public.sso_flow as restrictive for all to svc_tenant using ((org_id = current_setting('svc.org_id'::text, true))) with check ((org_id = current_setting('svc.org_id'::text, true)));
grant delete, insert, select, update on public.sso_flow to svc_runtime;

create table public.sso_signing_key (
  org_id text not null,
  private_key bytea not null,
  certificate text not null,
  created_at timestamp with time zone not null,
  constraint sso_signing_key_pkey PRIMARY KEY (org_id),
  constraint sso_signing_key_org_id_fkey FOREIGN KEY (org_id) REFERENCES org(id)
);
alter table public.sso_signing_key enable row level security;
create policy everybody on public.sso_signing_key as permissive for all to public using (true) with check (true);
create policy own_org on public.sso_signing_key as restrictive for all to svc_tenant using ((org_id = current_setting('svc.org_id'::text, true))) with check ((org_id = current_setting('svc.org_id'::text, true)));
grant delete, insert, select, update on public.sso_signing_key to svc_runtime;

create table public.staff (
  id text not null,
  email text not null,
  email_key text not null,
  password_hash text not null,
  totp_secret bytea not null,
  totp_last_step bigint not null default '-1'::integer,
  roles text[] not null,
  status text not null default 'active'::text,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint staff_pkey PRIMARY KEY (id),
  constraint staff_email_once UNIQUE (email_key),
  constraint staff_email_check CHECK (((char_length(email) >= 3) AND (char_length(email) <= 254))),
  constraint staff_id_check CHECK ((id ~ '^stf_[0-9A-HJKMNP-TV-Z]{26}$'::text)),
  constraint staff_roles_check CHECK (((cardinality(roles) > 0) AND (roles <@ ARRAY['super'::text, 'finance'::text, 'support'::text, 'catalog'::text, 'compliance'::text]))),
  constraint staff_status_check CHECK ((status = ANY (ARRAY['active'::text, 'disabled'::text])))
);
grant delete, insert, select, update on public.staff to svc_runtime;

create table public.staff_item (
  staff_item_id bigint not null generated always as identity,
  kind text not null,
  subject text not null,
  details jsonb not null,
  created_at timestamp with time zone not null,
  resolved_at timestamp with time zone,
  constraint staff_item_pkey PRIMARY KEY (staff_item_id),
  constraint staff_item_once UNIQUE (kind, subject)
);
CREATE INDEX staff_item_open ON public.staff_item USING btree (created_at) WHERE (resolved_at IS NULL);
grant delete, insert, select, update on public.staff_item to svc_runtime;

create table public.staff_look (
  id text not null,
  hash bytea not null,
  opened_at timestamp with time zone,
  staff_id text not null,
  staff_session_id text not null,
  org_id text not null,
  reason text not null,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  constraint staff_look_pkey PRIMARY KEY (id),
  constraint staff_look_hash_once UNIQUE (hash),
  constraint staff_look_hash_check CHECK ((octet_length(hash) = 32)),
  constraint staff_look_id_check CHECK ((id ~ '^ses_[0-9A-HJKMNP-TV-Z]{26}$'::text)),
  constraint staff_look_is_short CHECK ((expires_at <= (created_at + '00:30:00'::interval))),
  constraint staff_look_reason_check CHECK (((char_length(reason) >= 1) AND (char_length(reason) <= 500))),
  constraint staff_look_org_id_fkey FOREIGN KEY (org_id) REFERENCES org(id),
  constraint staff_look_staff_id_fkey FOREIGN KEY (staff_id) REFERENCES staff(id),
  constraint staff_look_staff_session_id_fkey FOREIGN KEY (staff_session_id) REFERENCES staff_session(id) ON DELETE CASCADE
);
CREATE INDEX staff_look_of_session ON public.staff_look USING btree (staff_session_id);
alter table public.staff_look enable row level security;
create policy everybody on public.staff_look as permissive for all to public using (true) with check (true);
create policy own_org on public.staff_look as restrictive for all to svc_tenant using ((org_id = current_setting('svc.org_id'::text, true))) with check ((org_id = current_setting('svc.org_id'::text, true)));
grant delete, insert, select, update on public.staff_look to svc_runtime;

create table public.staff_session (
  id text not null,
  hash bytea not null,
  staff_id text not null,
  transport text not null,
  ip_prefix text,
  user_agent text,
  created_at timestamp with time zone not null,
  last_seen_at timestamp with time zone not null,
  idle_seconds integer not null,
  expires_at timestamp with time zone not null,
  constraint staff_session_pkey PRIMARY KEY (id),
  constraint staff_session_hash_once UNIQUE (hash),
  constraint staff_session_hash_check CHECK ((octet_length(hash) = 32)),
  constraint staff_session_id_check CHECK ((id ~ '^ses_[0-9A-HJKMNP-TV-Z]{26}$'::text)),
  constraint staff_session_idle_seconds_check CHECK ((idle_seconds > 0)),
  constraint staff_session_transport_check CHECK ((transport = ANY (ARRAY['cookie'::text, 'bearer'::text]))),
  constraint staff_session_user_agent_check CHECK ((char_length(user_agent) <= 256)),
  constraint staff_session_staff_id_fkey FOREIGN KEY (staff_id) REFERENCES staff(id)
);
CREATE INDEX staff_session_expiry ON public.staff_session USING btree (expires_at);
CREATE INDEX staff_session_of_staff ON public.staff_session USING btree (staff_id);
grant delete, insert, select, update on public.staff_session to svc_runtime;

create table public.storefront (
  org_id text not null,
  display_name text not null,
  logo_url text,
  primary_color text not null,
  support_email text,
  support_url text,
  terms_url text,
  registration text not null,
  display_currency text not null,
  locale text not null,
  updated_at timestamp with time zone not null,
  constraint storefront_pkey PRIMARY KEY (org_id),
  constraint storefront_display_name_check CHECK (((char_length(display_name) >= 1) AND (char_length(display_name) <= 120))),
  constraint storefront_primary_color_check CHECK ((primary_color ~ '^#[0-9a-f]{6}$'::text)),
  constraint storefront_registration_check CHECK ((registration = ANY (ARRAY['open'::text, 'invite'::text]))),
  constraint storefront_org_id_fkey FOREIGN KEY (org_id) REFERENCES org(id)
);
alter table public.storefront enable row level security;
create policy everybody on public.storefront as permissive for all to public using (true) with check (true);
create policy own_org on public.storefront as restrictive for all to svc_tenant using ((org_id = current_setting('svc.org_id'::text, true))) with check ((org_id = current_setting('svc.org_id'::text, true)));
grant delete, insert, select, update on public.storefront to svc_runtime;

create table public.storefront_certificate (
  domain text not null,
  org_id text not null,
  chain text,
  private_key bytea,
  issuer text,
  not_before timestamp with time zone,
  not_after timestamp with time zone,
  order_url text,
  order_key bytea,
  challenge_token text,
  challenge_answer text,
  leased_by text,
  leased_until timestamp with time zone,
  next_at timestamp with time zone not null,
  failures integer not null default 0,
  fault text,
  fault_detail text,
  failed_at timestamp with time zone,
  created_at timestamp with time zone not null,
  directory_url text,
  order_directory_url text,
  constraint storefront_certificate_pkey PRIMARY KEY (domain),
  constraint storefront_certificate_chain_check CHECK ((char_length(chain) <= 65536)),
  constraint storefront_certificate_challenge_answer_check CHECK ((char_length(challenge_answer) <= 300)),
  constraint storefront_certificate_challenge_answered CHECK (((challenge_token IS NULL) = (challenge_answer IS NULL))),
  constraint storefront_certificate_challenge_token_check CHECK ((challenge_token ~ '^[A-Za-z0-9_-]{1,200}$'::text)),
  constraint storefront_certificate_directory_url_check CHECK ((char_length(directory_url) <= 2048)),
  constraint storefront_certificate_failures_check CHECK ((failures >= 0)),
  constraint storefront_certificate_fault_check CHECK ((char_length(fault) <= 40)),
  constraint storefront_certificate_fault_dated CHECK (((fault IS NULL) = (failed_at IS NULL))),
  constraint storefront_certificate_fault_detail_check CHECK ((char_length(fault_detail) <= 500)),
  constraint storefront_certificate_issuer_check CHECK ((char_length(issuer) <= 300)),
  constraint storefront_certificate_order_directory_url_check CHECK ((char_length(order_directory_url) <= 2048)),
  constraint storefront_certificate_order_has_key CHECK (((order_url IS NULL) OR (order_key IS NOT NULL))),
  constraint storefront_certificate_order_url_check CHECK ((char_length(order_url) <= 2048)),
  constraint storefront_certificate_whole_or_absent CHECK ((num_nulls(chain, private_key, issuer, not_before, not_after) = ANY (ARRAY[0, 5]))),
  constraint storefront_certificate_domain_fkey FOREIGN KEY (domain) REFERENCES storefront_domain_proof(domain) ON DELETE CASCADE
);
CREATE INDEX storefront_certificate_due ON public.storefront_certificate USING btree (next_at);
CREATE INDEX storefront_certificate_of_org ON public.storefront_certificate USING btree (org_id);
CREATE TRIGGER storefront_certificate_is_revoked AFTER DELETE ON public.storefront_certificate FOR EACH ROW WHEN ((old.chain IS NOT NULL)) EXECUTE FUNCTION note_certificate_revocation();
alter table public.storefront_certificate enable row level security;
create policy everybody on public.storefront_certificate as permissive for all to public using (true) with check (true);
create policy own_org on public.storefront_certificate as restrictive for all to svc_tenant using ((org_id = current_setting('svc.org_id'::text, true))) with check ((org_id = current_setting('svc.org_id'::text, true)));
grant delete, insert, select, update on public.storefront_certificate to svc_runtime;

create table public.storefront_domain (
  org_id text not null,
  domain text not null,
  token text not null,
  created_at timestamp with time zone not null,
  constraint storefront_domain_pkey PRIMARY KEY (org_id, domain),
  constraint storefront_domain_domain_check CHECK (((domain ~ '^[a-z0-9-]+([.][a-z0-9-]+)+$'::text) AND (char_length(domain) <= 237))),
  constraint storefront_domain_token_check CHECK ((token ~ '^svc-verify=[0-9A-Za-z]{32}$'::text)),
  constraint storefront_domain_org_id_fkey FOREIGN KEY (org_id) REFERENCES org(id)
);
alter table public.storefront_domain enable row level security;
create policy everybody on public.storefront_domain as permissive for all to public using (true) with check (true);
create policy own_org on public.storefront_domain as restrictive for all to svc_tenant using ((org_id = current_setting('svc.org_id'::text, true))) with check ((org_id = current_setting('svc.org_id'::text, true)));
grant delete, insert, select, update on public.storefront_domain to svc_runtime;

create table public.storefront_domain_past (
  org_id text not null,
  domain text not null,
  token text not null,
  was_proved boolean not null,
  ended_at timestamp with time zone not null,
  constraint storefront_domain_past_pkey PRIMARY KEY (org_id, domain, token),
  constraint storefront_domain_past_org_id_fkey FOREIGN KEY (org_id) REFERENCES org(id)
);
CREATE INDEX storefront_domain_past_age ON public.storefront_domain_past USING btree (ended_at);
CREATE INDEX storefront_domain_past_of ON public.storefront_domain_past USING btree (domain, ended_at) WHERE was_proved;
alter table public.storefront_domain_past enable row level security;
create policy everybody on public.storefront_domain_past as permissive for all to public using (true) with check (true);
create policy own_org on public.storefront_domain_past as restrictive for all to svc_tenant using ((org_id = current_setting('svc.org_id'::text, true))) with check ((org_id = current_setting('svc.org_id'::text, true)));
grant delete, insert, select, update on public.storefront_domain_past to svc_runtime;

create table public.storefront_domain_proof (
  domain text not null,
  org_id text not null,
  verified_at timestamp with time zone not null,
  checked_at timestamp with time zone not null,
  misses integer not null default 0,
  constraint storefront_domain_proof_pkey PRIMARY KEY (domain),
  constraint storefront_domain_proof_misses_check CHECK ((misses >= 0)),
  constraint storefront_domain_proof_org_id_domain_fkey FOREIGN KEY (org_id, domain) REFERENCES storefront_domain(org_id, domain) ON DELETE CASCADE
);
CREATE INDEX storefront_domain_proof_age ON public.storefront_domain_proof USING btree (checked_at);
CREATE INDEX storefront_domain_proof_of_org ON public.storefront_domain_proof USING btree (org_id);
alter table public.storefront_domain_proof enable row level security;
create policy everybody on public.storefront_domain_proof as permissive for all to public using (true) with check (true);
create policy own_org on public.storefront_domain_proof as restrictive for all to svc_tenant using ((org_id = current_setting('svc.org_id'::text, true))) with check ((org_id = current_setting('svc.org_id'::text, true)));
grant delete, insert, select, update on public.storefront_domain_proof to svc_runtime;

create table public.storefront_logo (
  org_id text not null,
  sha256 text not null,
  content_type text not null,
  image bytea not null,
  constraint storefront_logo_pkey PRIMARY KEY (org_id),
  constraint storefront_logo_content_type_check CHECK ((content_type = ANY (ARRAY['image/png'::text, 'image/jpeg'::text, 'image/webp'::text]))),
  constraint storefront_logo_image_check CHECK ((octet_length(image) <= 524288)),
  constraint storefront_logo_sha256_check CHECK ((sha256 ~ '^[0-9a-f]{64}$'::text)),
  constraint storefront_logo_org_id_fkey FOREIGN KEY (org_id) REFERENCES org(id)
);
CREATE INDEX storefront_logo_at ON public.storefront_logo USING btree (sha256);
alter table public.storefront_logo enable row level security;
create policy everybody on public.storefront_logo as permissive for all to public using (true) with check (true);
create policy own_org on public.storefront_logo as restrictive for all to svc_tenant using ((org_id = current_setting('svc.org_id'::text, true))) with check ((org_id = current_setting('svc.org_id'::text, true)));
grant delete, insert, select, update on public.storefront_logo to svc_runtime;

create table public.subprocessor_list (
  version text not null,
  entries jsonb not null,
  change jsonb not null,
  notice_days integer not null,
  published_at timestamp with time zone not null,
  effective_at timestamp with time zone not null,
  published_by text not null,
  announced_through text,
  constraint subprocessor_list_pkey PRIMARY KEY (version),
  constraint subprocessor_list_one_at_a_time UNIQUE (effective_at),
  constraint subprocessor_list_notice_days_check CHECK (((notice_days >= 0) AND (notice_days <= 365))),
  constraint subprocessor_list_version_check CHECK ((version ~ '^\d{4}-\d{2}-\d{2}(\.\d{1,2})?$'::text))
);
grant insert, select on public.subprocessor_list to svc_runtime;
grant update (announced_through) on public.subprocessor_list to svc_runtime;

create table public.summed_day (
  day date not null,
  summed_at timestamp with time zone not null,
  constraint summed_day_pkey PRIMARY KEY (day)
);
grant delete, insert, select, update on public.summed_day to svc_runtime;

create table public.ticket (
  id text not null,
  org_id text not null,
  kind text not null,
  status text not null,
  subject text not null,
  body jsonb not null,
  created_by text,
  resolution text not null default ''::text,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  waiting_for text not null default 'staff'::text,
  constraint ticket_pkey PRIMARY KEY (id),
  constraint ticket_id_check CHECK ((id ~ '^tkt_[0-9A-HJKMNP-TV-Z]{26}$'::text)),
  constraint ticket_kind_check CHECK ((kind = ANY (ARRAY['limit_increase'::text, 'invoice_correction'::text, 'refund'::text, 'close_org'::text, 'other'::text]))),
  constraint ticket_status_check CHECK ((status = ANY (ARRAY['open'::text, 'approved'::text, 'rejected'::text, 'resolved'::text, 'closed'::text]))),
  constraint ticket_waits_for_one_side CHECK ((waiting_for = ANY (ARRAY['staff'::text, 'customer'::text]))),
  constraint ticket_org_id_fkey FOREIGN KEY (org_id) REFERENCES org(id)
);
CREATE INDEX ticket_open ON public.ticket USING btree (kind, created_at, id) WHERE (status = 'open'::text);
CREATE INDEX ticket_open_walk ON public.ticket USING btree (created_at, id) WHERE (status = 'open'::text);
CREATE INDEX ticket_walk ON public.ticket USING btree (org_id, created_at DESC, id DESC);
alter table public.ticket enable row level security;
create policy everybody on public.ticket as permissive for all to public using (true) with check (true);
create policy own_org on public.ticket as restrictive for all to svc_tenant using ((org_id = current_setting('svc.org_id'::text, true))) with check ((org_id = current_setting('svc.org_id'::text, true)));
grant insert, select, update on public.ticket to svc_runtime;

create table public.ticket_message (
  ticket_message_id bigint not null generated always as identity,
  ticket_id text not null,
  org_id text not null,
  author text not null,
  author_id text,
  author_name text not null,
  text text not null,
  created_at timestamp with time zone not null,
  constraint ticket_message_pkey PRIMARY KEY (ticket_message_id),
  constraint ticket_message_author_check CHECK ((author = ANY (ARRAY['customer'::text, 'reseller'::text, 'staff'::text]))),
  constraint ticket_message_text_check CHECK (((char_length(text) >= 1) AND (char_length(text) <= 10000))),
  constraint ticket_message_org_id_fkey FOREIGN KEY (org_id) REFERENCES org(id),
  constraint ticket_message_ticket_id_fkey FOREIGN KEY (ticket_id) REFERENCES ticket(id)
);
CREATE INDEX ticket_message_of_ticket ON public.ticket_message USING btree (ticket_id, ticket_message_id);
alter table public.ticket_message enable row level security;
create policy everybody on public.ticket_message as permissive for all to public using (true) with check (true);
create policy own_org on public.ticket_message as restrictive for all to svc_tenant using ((org_id = current_setting('svc.org_id'::text, true))) with check ((org_id = current_setting('svc.org_id'::text, true)));
grant insert, select on public.ticket_message to svc_runtime;

create table public.topup (
  id text not null,
  org_id text not null,
  book_id bigint not null,
  gateway text not null,
  gateway_ref text,
  payment_ref text,
  currency text not null,
  amount_minor bigint not null,
  tax_minor bigint not null,
  total_minor bigint not null,
  fee_minor bigint,
  fx_day date not null,
  fx_rate numeric(20,8) not null,
  credits_micro bigint not null,
  tax jsonb not null,
  method text,
  status text not null default 'pending'::text,
  source text not null,
  invoice_id text,
  lot_id text,
  failure_code text,
  failure_message text,
  refunded_minor bigint not null default 0,
  refunded_credits_micro bigint not null default 0,
  disputed boolean not null default false,
  mandate_id text,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  paid_at timestamp with time zone,
  checkout_url text,
  attempt_no integer,
  constraint topup_pkey PRIMARY KEY (id),
  constraint topup_order_once UNIQUE (gateway, gateway_ref),
  constraint topup_payment_once UNIQUE (gateway, payment_ref),
  constraint topup_amount_minor_check CHECK ((amount_minor > 0)),
  constraint topup_auto_has_attempt CHECK (((source = 'auto'::text) = (attempt_no IS NOT NULL))) NOT VALID,
  constraint topup_check CHECK (((refunded_minor >= 0) AND (refunded_minor <= total_minor))),
  constraint topup_check1 CHECK (((refunded_credits_micro >= 0) AND (refunded_credits_micro <= credits_micro))),
  constraint topup_credits_micro_check CHECK ((credits_micro > 0)),
  constraint topup_currency_check CHECK ((currency ~ '^[A-Z]{3}$'::text)),
  constraint topup_fx_rate_check CHECK ((fx_rate > (0)::numeric)),
  constraint topup_gateway_check CHECK ((gateway = ANY (ARRAY['rail-a'::text, 'rail-b'::text]))),
  constraint topup_id_check CHECK ((id ~ '^tup_[0-9A-HJKMNP-TV-Z]{26}$'::text)),
  constraint topup_paid_has_everything CHECK (((status = 'paid'::text) = ((paid_at IS NOT NULL) AND (invoice_id IS NOT NULL) AND (payment_ref IS NOT NULL) AND (lot_id IS NOT NULL)))),
  constraint topup_source_check CHECK ((source = ANY (ARRAY['checkout'::text, 'auto'::text, 'staff'::text]))),
  constraint topup_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'review'::text, 'paid'::text, 'failed'::text, 'expired'::text]))),
  constraint topup_tax_minor_check CHECK ((tax_minor >= 0)),
  constraint topup_total_is_the_sum CHECK ((total_minor = (amount_minor + tax_minor))),
  constraint topup_invoice_id_fkey FOREIGN KEY (invoice_id) REFERENCES invoice(id),
  constraint topup_org_id_fkey FOREIGN KEY (org_id) REFERENCES org(id)
);
CREATE INDEX topup_of_rail ON public.topup USING btree (gateway, created_at);
CREATE INDEX topup_open ON public.topup USING btree (org_id) WHERE (status = 'pending'::text);
CREATE INDEX topup_paid ON public.topup USING btree (gateway, paid_at) WHERE (paid_at IS NOT NULL);
CREATE INDEX topup_walk ON public.topup USING btree (org_id, created_at DESC, id DESC);
alter table public.topup enable row level security;
create policy everybody on public.topup as permissive for all to public using (true) with check (true);
create policy own_org on public.topup as restrictive for all to svc_tenant using ((org_id = current_setting('svc.org_id'::text, true))) with check ((org_id = current_setting('svc.org_id'::text, true)));
grant insert, select, update on public.topup to svc_runtime;

create table public.topup_quote (
  org_id text not null,
  currency text not null,
  amount_minor bigint not null,
  fx_day date not null,
  fx_rate numeric(20,8) not null,
  quoted_at timestamp with time zone not null,
  constraint topup_quote_pkey PRIMARY KEY (org_id, currency, amount_minor),
  constraint topup_quote_org_id_fkey FOREIGN KEY (org_id) REFERENCES org(id)
);
alter table public.topup_quote enable row level security;
create policy everybody on public.topup_quote as permissive for all to public using (true) with check (true);
create policy own_org on public.topup_quote as restrictive for all to svc_tenant using ((org_id = current_setting('svc.org_id'::text, true))) with check ((org_id = current_setting('svc.org_id'::text, true)));
grant delete, insert, select, update on public.topup_quote to svc_runtime;

create table public.usage_hour (
  org_id text not null,
  environment text not null,
  hour timestamp with time zone not null,
  project_id text not null,
  key_id text not null,
  model text not null,
  provider text not null,
  byok boolean not null,
  app_id text not null,
  requests bigint not null,
  ok bigint not null,
  errors bigint not null,
  input_tokens bigint not null,
  output_tokens bigint not null,
  cache_read_tokens bigint not null,
  cache_write_tokens bigint not null,
  reasoning_tokens bigint not null,
  cost_micro bigint not null,
  constraint usage_hour_pkey PRIMARY KEY (org_id, environment, hour, project_id, key_id, model, provider, byok, app_id),
  constraint usage_hour_is_whole CHECK ((date_trunc('hour'::text, hour, 'UTC'::text) = hour))
);
CREATE TRIGGER usage_hour_changed_sums AFTER UPDATE ON public.usage_hour REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION usage_hour_has_changed();
CREATE TRIGGER usage_hour_is_summed_again AFTER INSERT ON public.usage_hour REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION usage_hour_is_new();
CREATE TRIGGER usage_hour_lost_sums AFTER DELETE ON public.usage_hour REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION usage_hour_has_changed();
alter table public.usage_hour enable row level security;
create policy everybody on public.usage_hour as permissive for all to public using (true) with check (true);
create policy own_org on public.usage_hour as restrictive for all to svc_tenant using ((org_id = current_setting('svc.org_id'::text, true))) with check ((org_id = current_setting('svc.org_id'::text, true)));
grant delete, insert, select, update on public.usage_hour to svc_runtime;

create table public.usage_seal (
  one boolean not null default true,
  until timestamp with time zone,
  constraint usage_seal_pkey PRIMARY KEY (one),
  constraint usage_seal_is_one CHECK (one)
);
grant delete, insert, select, update on public.usage_seal to svc_runtime;

create table public.usage_span (
  org_id text not null,
  environment text not null,
  kind text not null,
  name text not null,
  level smallint not null,
  start timestamp with time zone not null,
  value text not null,
  requests bigint not null,
  ok bigint not null,
  errors bigint not null,
  input_tokens bigint not null,
  output_tokens bigint not null,
  cache_read_tokens bigint not null,
  cache_write_tokens bigint not null,
  reasoning_tokens bigint not null,
  cost_micro bigint not null,
  constraint usage_span_pkey PRIMARY KEY (org_id, environment, level, start, kind, name, value),
  constraint usage_span_kind CHECK ((kind = ANY (ARRAY['tag'::text, 'user'::text, 'session'::text])))
);
alter table public.usage_span enable row level security;
create policy everybody on public.usage_span as permissive for all to public using (true) with check (true);
create policy own_org on public.usage_span as restrictive for all to svc_tenant using ((org_id = current_setting('svc.org_id'::text, true))) with check ((org_id = current_setting('svc.org_id'::text, true)));
grant delete, insert, select, update on public.usage_span to svc_runtime;

create table public.usage_spanned (
  org_id text not null,
  environment text not null,
  level smallint not null,
  start timestamp with time zone not null,
  kind text not null,
  name text not null,
  constraint usage_spanned_pkey PRIMARY KEY (org_id, environment, level, start, kind, name)
);
alter table public.usage_spanned enable row level security;
create policy everybody on public.usage_spanned as permissive for all to public using (true) with check (true);
create policy own_org on public.usage_spanned as restrictive for all to svc_tenant using ((org_id = current_setting('svc.org_id'::text, true))) with check ((org_id = current_setting('svc.org_id'::text, true)));
grant delete, insert, select, update on public.usage_spanned to svc_runtime;

create table public.usage_unspanned (
  org_id text not null,
  environment text not null,
  level smallint not null,
  start timestamp with time zone not null,
  constraint usage_unspanned_pkey PRIMARY KEY (org_id, environment, level, start)
);
CREATE INDEX usage_unspanned_next ON public.usage_unspanned USING btree (level, start DESC);
alter table public.usage_unspanned enable row level security;
create policy everybody on public.usage_unspanned as permissive for all to public using (true) with check (true);
create policy own_org on public.usage_unspanned as restrictive for all to svc_tenant using ((org_id = current_setting('svc.org_id'::text, true))) with check ((org_id = current_setting('svc.org_id'::text, true)));
grant delete, insert, select, update on public.usage_unspanned to svc_runtime;

create table public.usage_unsummed (
  org_id text not null,
  environment text not null,
  hour timestamp with time zone not null,
  changed_at timestamp with time zone,
  constraint usage_unsummed_pkey PRIMARY KEY (org_id, environment, hour)
);
CREATE INDEX usage_unsummed_newest ON public.usage_unsummed USING btree (hour DESC);
CREATE TRIGGER usage_unsummed_makes_spans AFTER DELETE ON public.usage_unsummed REFERENCING OLD TABLE AS summed FOR EACH STATEMENT EXECUTE FUNCTION usage_hour_is_summed();
alter table public.usage_unsummed enable row level security;
create policy everybody on public.usage_unsummed as permissive for all to public using (true) with check (true);
create policy own_org on public.usage_unsummed as restrictive for all to svc_tenant using ((org_id = current_setting('svc.org_id'::text, true))) with check ((org_id = current_setting('svc.org_id'::text, true)));
grant delete, insert, select, update on public.usage_unsummed to svc_runtime;

create table public.usage_value (
  org_id text not null,
  environment text not null,
  kind text not null,
  name text not null,
  hour timestamp with time zone not null,
  value text not null,
  requests bigint not null,
  ok bigint not null,
  errors bigint not null,
  input_tokens bigint not null,
  output_tokens bigint not null,
  cache_read_tokens bigint not null,
  cache_write_tokens bigint not null,
  reasoning_tokens bigint not null,
  cost_micro bigint not null,
  constraint usage_value_pkey PRIMARY KEY (org_id, environment, kind, name, hour, value)
);
CREATE INDEX usage_value_hour ON public.usage_value USING brin (hour) WITH (pages_per_range='16');
alter table public.usage_value enable row level security;
create policy everybody on public.usage_value as permissive for all to public using (true) with check (true);
create policy own_org on public.usage_value as restrictive for all to svc_tenant using ((org_id = current_setting('svc.org_id'::text, true))) with check ((org_id = current_setting('svc.org_id'::text, true)));
grant delete, insert, select, update on public.usage_value to svc_runtime;

create table public.usage_view (
  id text not null,
  org_id text not null,
  created_by text not null,
  private_to text,
  name text not null,
  query text not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint usage_view_pkey PRIMARY KEY (id),
  constraint usage_view_name_is_unique UNIQUE (org_id, created_by, name),
  constraint usage_view_id_check CHECK ((id ~ '^uvw_[0-9A-HJKMNP-TV-Z]{26}$'::text)),
  constraint usage_view_is_private_to_its_maker CHECK ((private_to = created_by)),
  constraint usage_view_org_id_fkey FOREIGN KEY (org_id) REFERENCES org(id),
  constraint usage_view_org_id_private_to_fkey FOREIGN KEY (org_id, private_to) REFERENCES org_member(org_id, user_id) ON DELETE CASCADE
);
alter table public.usage_view enable row level security;
create policy everybody on public.usage_view as permissive for all to public using (true) with check (true);
create policy own_org on public.usage_view as restrictive for all to svc_tenant using ((org_id = current_setting('svc.org_id'::text, true))) with check ((org_id = current_setting('svc.org_id'::text, true)));
grant delete, insert, select, update on public.usage_view to svc_runtime;

create table public.waitlist_entry (
  id text not null,
  user_id text not null,
  company text not null,
  use_case text not null,
  status text not null default 'waiting'::text,
  reviewed_by text,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint waitlist_entry_pkey PRIMARY KEY (id),
  constraint waitlist_entry_user_id_key UNIQUE (user_id),
  constraint waitlist_entry_company_check CHECK (((char_length(company) >= 1) AND (char_length(company) <= 120))),
  constraint waitlist_entry_id_check CHECK ((id ~ '^wle_[0-9A-HJKMNP-TV-Z]{26}$'::text)),
  constraint waitlist_entry_status_check CHECK ((status = ANY (ARRAY['waiting'::text, 'invited'::text]))),
  constraint waitlist_entry_use_case_check CHECK (((char_length(use_case) >= 1) AND (char_length(use_case) <= 500))),
  constraint waitlist_entry_user_id_fkey FOREIGN KEY (user_id) REFERENCES person(id) ON DELETE CASCADE
);
CREATE INDEX waitlist_waiting ON public.waitlist_entry USING btree (created_at, id) WHERE (status = 'waiting'::text);
grant delete, insert, select, update on public.waitlist_entry to svc_runtime;

create table public.webhook (
  id text not null,
  org_id text not null,
  url text not null,
  description text not null default ''::text,
  events text[] not null,
  status text not null default 'active'::text,
  disabled_reason text,
  failing_since timestamp with time zone,
  failed_attempts integer not null default 0,
  secret_sealed bytea not null,
  secret_hint text not null,
  previous_secret_sealed bytea,
  previous_secret_expires_at timestamp with time zone,
  created_by text,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  last_delivery_at timestamp with time zone,
  constraint webhook_pkey PRIMARY KEY (id),
  constraint webhook_description_check CHECK ((char_length(description) <= 500)),
  constraint webhook_disabled_has_a_reason CHECK (((status = 'disabled'::text) = (disabled_reason IS NOT NULL))),
  constraint webhook_disabled_reason_check CHECK ((disabled_reason = ANY (ARRAY['manual'::text, 'gone'::text, 'failing'::text, 'org_closed'::text]))),
  constraint webhook_events_check CHECK (((cardinality(events) >= 1) AND (cardinality(events) <= 100))),
  constraint webhook_failed_attempts_check CHECK ((failed_attempts >= 0)),
  constraint webhook_failing_counts CHECK (((failing_since IS NULL) = (failed_attempts = 0))),
  constraint webhook_id_check CHECK ((id ~ '^wh_[0-9A-HJKMNP-TV-Z]{26}$'::text)),
  constraint webhook_previous_secret_ends CHECK (((previous_secret_sealed IS NULL) = (previous_secret_expires_at IS NULL))),
  constraint webhook_status_check CHECK ((status = ANY (ARRAY['active'::text, 'disabled'::text]))),
  constraint webhook_url_check CHECK (((char_length(url) >= 1) AND (char_length(url) <= 2048))),
  constraint webhook_org_id_fkey FOREIGN KEY (org_id) REFERENCES org(id)
);
CREATE INDEX webhook_of_org ON public.webhook USING btree (org_id, created_at, id);
alter table public.webhook enable row level security;
create policy everybody on public.webhook as permissive for all to public using (true) with check (true);
create policy own_org on public.webhook as restrictive for all to svc_tenant using ((org_id = current_setting('svc.org_id'::text, true))) with check ((org_id = current_setting('svc.org_id'::text, true)));
grant delete, insert, select, update on public.webhook to svc_runtime;

create table public.webhook_delivery (
  id bigint not null generated always as identity,
  webhook_id text not null,
  org_id text not null,
  event_id text not null,
  redelivery integer not null default 0,
  status text not null,
  attempts integer not null default 0,
  attempts_max integer not null,
  next_at timestamp with time zone not null,
  lease text,
  lease_until timestamp with time zone,
  response_code integer,
  latency_ms integer,
  attempt_log jsonb not null default '[]'::jsonb,
  created_at timestamp with time zone not null,
  delivered_at timestamp with time zone,
  constraint webhook_delivery_pkey PRIMARY KEY (id),
  constraint webhook_delivery_once UNIQUE (webhook_id, event_id, redelivery),
  constraint webhook_delivery_attempts CHECK (((attempts >= 0) AND (attempts <= attempts_max))),
  constraint webhook_delivery_attempts_max_check CHECK ((attempts_max >= 1)),
  constraint webhook_delivery_delivered CHECK (((status = 'delivered'::text) = (delivered_at IS NOT NULL))),
  constraint webhook_delivery_leased CHECK (((status = 'delivering'::text) = ((lease IS NOT NULL) AND (lease_until IS NOT NULL)))),
  constraint webhook_delivery_redelivery_check CHECK ((redelivery >= 0)),
  constraint webhook_delivery_status_check CHECK ((status = ANY (ARRAY['queued'::text, 'delivering'::text, 'delivered'::text, 'failed'::text, 'dropped'::text]))),
  constraint webhook_delivery_event_id_fkey FOREIGN KEY (event_id) REFERENCES webhook_event(id),
  constraint webhook_delivery_webhook_id_fkey FOREIGN KEY (webhook_id) REFERENCES webhook(id) ON DELETE CASCADE
);
CREATE INDEX webhook_delivery_age ON public.webhook_delivery USING btree (created_at);
CREATE INDEX webhook_delivery_event ON public.webhook_delivery USING btree (event_id);
CREATE INDEX webhook_delivery_queue ON public.webhook_delivery USING btree (webhook_id, next_at, id) WHERE (status = ANY (ARRAY['queued'::text, 'delivering'::text]));
CREATE INDEX webhook_delivery_walk ON public.webhook_delivery USING btree (webhook_id, id DESC);
alter table public.webhook_delivery enable row level security;
create policy everybody on public.webhook_delivery as permissive for all to public using (true) with check (true);
create policy own_org on public.webhook_delivery as restrictive for all to svc_tenant using ((org_id = current_setting('svc.org_id'::text, true))) with check ((org_id = current_setting('svc.org_id'::text, true)));
grant delete, insert, select, update on public.webhook_delivery to svc_runtime;

create table public.webhook_event (
  id text not null,
  org_id text not null,
  type text not null,
  body text not null,
  created_at timestamp with time zone not null,
  constraint webhook_event_pkey PRIMARY KEY (id),
  constraint webhook_event_id_check CHECK ((id ~ '^evt_[0-9A-HJKMNP-TV-Z]{26}$'::text))
);
CREATE INDEX webhook_event_age ON public.webhook_event USING btree (created_at);
alter table public.webhook_event enable row level security;
create policy everybody on public.webhook_event as permissive for all to public using (true) with check (true);
create policy own_org on public.webhook_event as restrictive for all to svc_tenant using ((org_id = current_setting('svc.org_id'::text, true))) with check ((org_id = current_setting('svc.org_id'::text, true)));
grant delete, insert, select, update on public.webhook_event to svc_runtime;

create table public.workflow_failure (
  workflow_id text not null,
  step text not null,
  attempt integer not null,
  failure text not null,
  failed_at timestamp with time zone not null,
  constraint workflow_failure_pkey PRIMARY KEY (workflow_id, step),
  constraint workflow_failure_attempt_check CHECK ((attempt >= 1)),
  constraint workflow_failure_failure_check CHECK ((char_length(failure) <= 200))
);
grant delete, insert, select, update on public.workflow_failure to svc_runtime;

create table public.workflow_look (
  only_row boolean not null default true,
  claimed_at timestamp with time zone not null,
  looked_at timestamp with time zone,
  complete boolean not null default true,
  constraint workflow_look_pkey PRIMARY KEY (only_row),
  constraint workflow_look_only_row_check CHECK (only_row)
);
grant delete, insert, select, update on public.workflow_look to svc_runtime;

create table public.workflow_open (
  workflow_id text not null,
  type text not null,
  started_at timestamp with time zone not null,
  constraint workflow_open_pkey PRIMARY KEY (workflow_id),
  constraint workflow_open_workflow_id_check CHECK (((char_length(workflow_id) >= 1) AND (char_length(workflow_id) <= 128)))
);
grant delete, insert, select, update on public.workflow_open to svc_runtime;

create table public.workflow_signal (
  signal_id bigint not null generated always as identity,
  workflow_id text not null,
  name text not null,
  args jsonb not null,
  created_at timestamp with time zone not null,
  sent_at timestamp with time zone,
  constraint workflow_signal_pkey PRIMARY KEY (signal_id),
  constraint workflow_signal_workflow_id_fkey FOREIGN KEY (workflow_id) REFERENCES workflow_start(workflow_id)
);
CREATE INDEX workflow_signal_waiting ON public.workflow_signal USING btree (signal_id) WHERE (sent_at IS NULL);
CREATE TRIGGER workflow_signal_announces AFTER INSERT ON public.workflow_signal FOR EACH STATEMENT EXECUTE FUNCTION announce_workflow();
grant delete, insert, select, update on public.workflow_signal to svc_runtime;

create table public.workflow_start (
  workflow_id text not null,
  type text not null,
  args jsonb not null,
  created_at timestamp with time zone not null,
  started_at timestamp with time zone,
  constraint workflow_start_pkey PRIMARY KEY (workflow_id),
  constraint workflow_start_workflow_id_check CHECK (((char_length(workflow_id) >= 1) AND (char_length(workflow_id) <= 128)))
);
CREATE INDEX workflow_start_waiting ON public.workflow_start USING btree (created_at) WHERE (started_at IS NULL);
CREATE TRIGGER workflow_start_announces AFTER INSERT ON public.workflow_start FOR EACH STATEMENT EXECUTE FUNCTION announce_workflow();
grant delete, insert, select, update on public.workflow_start to svc_runtime;

CREATE OR REPLACE FUNCTION catalog.refuse_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  raise exception 'catalog.% is never changed; add a row', tg_table_name;
end $function$
;

CREATE OR REPLACE FUNCTION ledger.alert(p_kind smallint, p_subject integer, p_start date, p_now timestamp with time zone)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
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
end $function$
;
revoke execute on function ledger.alert from public;

CREATE OR REPLACE FUNCTION ledger.budget_payload(w ledger.win)
 RETURNS jsonb
 LANGUAGE sql
 STABLE
AS $function$
  select jsonb_build_object(
    'scope', case w.kind when 1 then 'key' else 'project' end,
    case w.kind when 1 then 'key_no' else 'project_no' end, w.subject,
    'budget_micro', w.cap, 'spend_micro', w.spent, 'hard', w.hard,
    'window_start', to_char(w.start, 'YYYY-MM-DD"T00:00:00.000Z"'),
    'window_end', to_char(case w.kind when 1 then w.start + interval '1 day' else w.start + interval '1 month' end,
                          'YYYY-MM-DD"T00:00:00.000Z"'))
$function$
;
revoke execute on function ledger.budget_payload from public;

CREATE OR REPLACE FUNCTION ledger.burn_lots(p_book bigint, p_block bigint, p_amount bigint, p_lot bigint, p_paid_only boolean, p_before timestamp with time zone, p_origin bigint DEFAULT NULL::bigint, p_seq bigint DEFAULT NULL::bigint)
 RETURNS bigint
 LANGUAGE plpgsql
AS $function$
-- Burns `p_amount` from the open lots in burn order, from `p_lot` alone, or from those of `p_origin`; returns the
-- granted part of it. `p_seq` is the entry of a debit or expiry.
declare
  v_left bigint := p_amount;
  v_granted bigint := 0;
  v_part bigint;
  l ledger.lot;
begin
  for l in
    select * from ledger.lot x where x.book_id = p_book and x.is_open and (p_lot is null or x.lot_no = p_lot)
      and (p_origin is null or x.origin_seq = p_origin)
      and not (p_paid_only and x.is_grant) and (p_before is null or x.created_at < p_before)
    order by x.expires_at, x.is_grant desc, x.origin_seq, x.seq
  loop
    exit when v_left = 0;
    v_part := least(v_left, l.amount - l.burned);
    update ledger.lot x set burned = x.burned + v_part, is_open = x.burned + v_part < x.amount
    where x.lot_no = l.lot_no;
    insert into ledger.burn (lot_no, from_micro, to_micro, book_id, block_no, seq)
    values (l.lot_no, l.burned, l.burned + v_part, p_book, p_block, p_seq);
    if l.is_grant then v_granted := v_granted + v_part; end if;
    v_left := v_left - v_part;
  end loop;
  -- Lots hold available + held (L5), so this is a defect, and nothing of the batch may stand.
  if v_left > 0 then raise exception 'lots short in book %', p_book using errcode = 'XX001'; end if;
  return v_granted;
end $function$
;
revoke execute on function ledger.burn_lots from public;

CREATE OR REPLACE FUNCTION ledger.charge_back(p_book bigint, p_amount bigint, p_ref_type text, p_ref_id text, p_lot_id text, p_lot_ids text[], p_now timestamp with time zone, OUT o_status text, OUT o_seq bigint, OUT o_taken bigint)
 RETURNS record
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
-- Once per reference, which is that of the hold. What the lot and the balance do not cover is written off.
-- `p_lot_ids` are as many as the lots that the hold took from. Status: ok, replay.
begin
  perform ledger.restore(p_book, 17::smallint, 18::smallint, p_ref_type, p_ref_id, p_lot_ids, p_now);
  select d.o_status, d.o_seq, d.o_taken into o_status, o_seq, o_taken
  from ledger.debit(p_book, p_amount, 19::smallint, p_ref_type, p_ref_id, p_lot_id, false, null, 'write_off', p_now) d;
end $function$
;
revoke execute on function ledger.charge_back from public;
grant execute on function ledger.charge_back to svc_runtime;

CREATE OR REPLACE FUNCTION ledger.charge_plan(p_book bigint, p_fee bigint, p_included bigint, p_lot_id text, p_ends timestamp with time zone, p_ref_id text, p_now timestamp with time zone, OUT o_status text, OUT o_fee_seq bigint, OUT o_credit_seq bigint)
 RETURNS record
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
-- Takes the fee in burn order and brings the included credit, which ends with the period, once per reference. Status:
-- ok, replay, insufficient (nothing moved), over (the period has ended, nothing moved). Credit that has ended, that of
-- the month before above all, is expired first: a fee is not paid with it, whenever the hourly job came by.
declare
  v_lot bigint;
begin
  perform from ledger.book where book_id = p_book for no key update;
  if not found then raise exception 'unknown book' using errcode = '22L01'; end if;
  select e.seq into o_fee_seq from ledger.entry e
  where e.book_id = p_book and e.kind = 14 and e.ref_type = 'plan' and e.ref_id = p_ref_id;
  if found then
    o_status := 'replay';
    select e.seq into o_credit_seq from ledger.entry e
    where e.book_id = p_book and e.kind = 15 and e.ref_type = 'plan' and e.ref_id = p_ref_id;
    return;
  end if;
  if p_ends <= p_now then o_status := 'over'; return; end if;
  for v_lot in
    select l.lot_no from ledger.lot l where l.book_id = p_book and l.is_open and l.expires_at <= p_now
    order by l.seq, l.origin_seq
  loop
    perform ledger.expire_lot(v_lot, p_now);
  end loop;
  select d.o_status, d.o_seq into o_status, o_fee_seq
  from ledger.debit(p_book, p_fee, 14::smallint, 'plan', p_ref_id, null, false, null, 'refuse', p_now) d;
  if o_status <> 'ok' or p_included = 0 then return; end if;
  select c.o_seq into o_credit_seq
  from ledger.credit(p_book, p_lot_id, p_included, true, p_ends, 15::smallint, 'plan', p_ref_id, p_now) c;
end $function$
;
revoke execute on function ledger.charge_plan from public;
grant execute on function ledger.charge_plan to svc_runtime;

CREATE OR REPLACE FUNCTION ledger.credit(p_book bigint, p_lot_id text, p_amount bigint, p_grant boolean, p_expires timestamp with time zone, p_kind smallint, p_ref_type text, p_ref_id text, p_now timestamp with time zone, OUT o_seq bigint, OUT o_lot_id text, OUT o_replay boolean)
 RETURNS record
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
-- One entry, one block, one lot, once per (kind, reference): a repeat returns what the first one made.
declare
  v ledger.book;
begin
  select * into strict v from ledger.book where book_id = p_book for no key update;
  select e.seq, l.lot_id, true into o_seq, o_lot_id, o_replay
  from ledger.entry e join ledger.lot l on l.book_id = e.book_id and l.seq = e.seq
  where e.book_id = p_book and e.kind = p_kind and e.ref_type = p_ref_type and e.ref_id = p_ref_id and e.amount > 0;
  if found then return; end if;
  insert into ledger.lot (lot_id, book_id, seq, origin_seq, is_grant, expires_at, created_at, amount)
  values (p_lot_id, p_book, v.seq + 1, v.seq + 1, p_grant, p_expires, greatest(v.last_at, p_now), p_amount);
  o_seq := ledger.post(v, p_amount, case when p_grant then p_amount else 0 end, p_kind, p_ref_type, p_ref_id,
    timestamptz_send(p_expires) || boolsend(p_grant) || convert_to(p_lot_id, 'UTF8'), p_now);
  o_lot_id := p_lot_id;
  o_replay := false;
end $function$
;
revoke execute on function ledger.credit from public;
grant execute on function ledger.credit to svc_runtime;

CREATE OR REPLACE FUNCTION ledger.debit(p_book bigint, p_amount bigint, p_kind smallint, p_ref_type text, p_ref_id text, p_lot_id text, p_paid_only boolean, p_before timestamp with time zone, p_short text, p_now timestamp with time zone, OUT o_status text, OUT o_seq bigint, OUT o_taken bigint)
 RETURNS record
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
-- Takes `p_amount` out of one lot and what was put back of it, the paid lots or all, once per (kind, reference).
-- Status: ok, replay, insufficient (nothing was taken). Where it is not all there, `p_short` says what to do: `refuse`,
-- `take_less`, or `write_off`, which takes what is there and records the rest.
declare
  v ledger.book;
  v_origin bigint;
  v_reach bigint;
begin
  if p_amount <= 0 then raise exception 'a debit is positive' using errcode = '22L03'; end if;
  select * into strict v from ledger.book where book_id = p_book for no key update;
  select e.seq, -e.amount into o_seq, o_taken from ledger.entry e
  where e.book_id = p_book and e.kind = p_kind and e.ref_type = p_ref_type and e.ref_id = p_ref_id and p_kind <> 16;
  if found then o_status := 'replay'; return; end if;
  if p_lot_id is not null then
    select origin_seq into strict v_origin from ledger.lot where book_id = p_book and lot_id = p_lot_id;
  end if;
  select least(v.available, coalesce(sum(l.amount - l.burned), 0)::bigint) into v_reach from ledger.lot l
  where l.book_id = p_book and l.is_open and (v_origin is null or l.origin_seq = v_origin)
    and not (p_paid_only and l.is_grant) and (p_before is null or l.created_at < p_before);
  -- Only refunds, disputes and chargebacks leave an entry of nothing.
  if v_reach < p_amount and (p_short = 'refuse' or v_reach = 0 and p_kind not in (3, 17, 19)) then
    o_status := 'insufficient'; o_taken := 0; return;
  end if;
  o_taken := least(v_reach, p_amount);
  o_seq := ledger.post(v, -o_taken, -ledger.burn_lots(p_book, v.block_no + 1, o_taken, null, p_paid_only, p_before,
    v_origin, v.seq + 1), p_kind, p_ref_type, p_ref_id, '', p_now);
  if o_taken < p_amount and p_short = 'write_off' then
    insert into ledger.writeoff (book_id, seq, amount) values (p_book, o_seq, p_amount - o_taken);
  end if;
  o_status := 'ok';
end $function$
;
revoke execute on function ledger.debit from public;
grant execute on function ledger.debit to svc_runtime;

CREATE OR REPLACE FUNCTION ledger.end_grants(p_book bigint, p_now timestamp with time zone)
 RETURNS bigint
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
-- Books the expiry of what is left of the granted lots of a book and not needed by holds; returns the amount, 0 when
-- nothing moved. Called again it takes what holds have given back since.
declare
  v ledger.book;
  v_lots bigint[];
  v_lot bigint;
  l ledger.lot;
  v_amount bigint;
  v_moved bigint := 0;
begin
  perform from ledger.book where book_id = p_book for no key update;
  select coalesce(array_agg(x.lot_no order by x.seq, x.origin_seq), '{}') into v_lots
  from ledger.lot x where x.book_id = p_book and x.is_open and x.is_grant;
  foreach v_lot in array v_lots loop
    select * into strict v from ledger.book where book_id = p_book;
    select * into strict l from ledger.lot where lot_no = v_lot;
    v_amount := least(l.amount - l.burned, v.available);
    if v_amount = 0 then continue; end if;
    perform ledger.post(v, -v_amount, -ledger.burn_lots(p_book, v.block_no + 1, v_amount, v_lot, false, null, null,
      v.seq + 1), 16::smallint, 'lot', l.lot_id, '', p_now);
    v_moved := v_moved + v_amount;
  end loop;
  return v_moved;
end $function$
;
revoke execute on function ledger.end_grants from public;
grant execute on function ledger.end_grants to svc_runtime;

CREATE OR REPLACE FUNCTION ledger.end_lease(p_lease bigint)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
-- Ends a lease now.
declare
  v_now timestamptz := clock_timestamp();
begin
  update ledger.lease set expires_at = v_now where lease_id = p_lease;
end $function$
;
revoke execute on function ledger.end_lease from public;
grant execute on function ledger.end_lease to svc_runtime;

CREATE OR REPLACE FUNCTION ledger.exhaust(p_kind smallint, p_subject integer, p_start date, p_now timestamp with time zone)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
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
end $function$
;
revoke execute on function ledger.exhaust from public;

CREATE OR REPLACE FUNCTION ledger.expire_lot(p_lot bigint, p_now timestamp with time zone)
 RETURNS bigint
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
-- Books the expiry of what is left of a lot and not needed by holds; returns the amount, 0 when nothing moved.
declare
  v ledger.book;
  l ledger.lot;
  v_amount bigint;
begin
  select b.* into v from ledger.book b join ledger.lot x using (book_id) where x.lot_no = p_lot for no key update of b;
  select * into l from ledger.lot where lot_no = p_lot;
  if not found or not l.is_open or l.expires_at > p_now then return 0; end if;
  v_amount := least(l.amount - l.burned, v.available);
  if v_amount = 0 then return 0; end if;
  perform ledger.post(v, -v_amount, -ledger.burn_lots(v.book_id, v.block_no + 1, v_amount, p_lot, false, null, null,
    v.seq + 1), 16::smallint, 'lot', l.lot_id, '', p_now);
  return v_amount;
end $function$
;
revoke execute on function ledger.expire_lot from public;
grant execute on function ledger.expire_lot to svc_runtime;

CREATE OR REPLACE FUNCTION ledger.extend(p_books bigint[], p_id uuid[], p_total bigint[])
 RETURNS text
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
-- Raises holds to new totals, in order. Letters: o raised (or high enough), c insufficient credits, b budget,
-- m missing, e refused. An element of an array that is set as it stands ends the server of Citus 14.0.1: hence `v_total`.
declare
  v_status text := '';
  h ledger.hold;
  d bigint;
  v_total bigint;
  v_day date;
  v_month date;
  v_room boolean;
begin
  perform from ledger.book where book_id = any (p_books) order by book_id for no key update;
  for i in 1..cardinality(p_id) loop
    select * into h from ledger.hold where hold_id = p_id[i] and book_id = any (p_books);
    if not found then v_status := v_status || 'm'; continue; end if;
    v_total := p_total[i];
    d := v_total - h.amount;
    if d <= 0 then v_status := v_status || 'o'; continue; end if;
    v_day := ledger.ulid_day(h.hold_id);
    v_month := date_trunc('month', v_day::timestamp)::date;
    select bool_and(not w.hard or w.cap is null or w.spent + w.held + d <= w.cap) into v_room from ledger.win w
    where (w.kind, w.subject, w.start) in ((1, h.key_no, v_day), (2, h.project_no, v_month));
    if v_room is not true then v_status := v_status || 'b'; continue; end if;
    if h.run is not null then
      select t.spent + t.held + d <= t.cap into v_room from ledger.run t where t.book_id = h.book_id and t.run = h.run;
      if v_room is not true then v_status := v_status || 'b'; continue; end if;
    end if;
    update ledger.book set available = available - d, held = held + d where book_id = h.book_id and available >= d;
    if not found then v_status := v_status || 'c'; continue; end if;
    update ledger.win w set held = held + d
    where (w.kind, w.subject, w.start) in ((1, h.key_no, v_day), (2, h.project_no, v_month));
    if h.run is not null then
      update ledger.run t set held = held + d where t.book_id = h.book_id and t.run = h.run;
    end if;
    update ledger.hold set amount = v_total where hold_id = h.hold_id;
    v_status := v_status || 'o';
  end loop;
  return v_status;
end $function$
;
revoke execute on function ledger.extend from public;
grant execute on function ledger.extend to svc_runtime;

CREATE OR REPLACE FUNCTION ledger.first_lot(p_book bigint)
 RETURNS bigint
 LANGUAGE plpgsql
 STABLE
AS $function$
-- Burn order: earliest expiry first, at equal expiry granted before paid, then oldest. The oldest is the one whose
-- credit came with the lowest seq: `created_at` never falls with it, while numbers of an identity are in no order once
-- a book has moved.
begin
  return (select lot_no from ledger.lot where book_id = p_book and is_open
          order by expires_at, is_grant desc, origin_seq, seq limit 1);
end $function$
;
revoke execute on function ledger.first_lot from public;

CREATE OR REPLACE FUNCTION ledger.hold(p_books bigint[], p_wkind smallint[], p_wsub integer[], p_wstart date[], p_wbix integer[], p_id uuid[], p_bix integer[], p_kix integer[], p_pix integer[], p_amount bigint[], p_cix integer[], p_cscope text[], p_chash bytea[], p_cprint bytea[], p_lease bigint, p_now timestamp with time zone, p_run uuid[] DEFAULT '{}'::uuid[], p_rcap bigint[] DEFAULT '{}'::bigint[], OUT o_status text, OUT o_available bigint[])
 RETURNS record
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
  v_book bigint;
  v_claim int;
  r record;
  s text;
begin
  -- Fences off a process that was forgotten: its lease has lapsed and its holds would be swept at once.
  perform from ledger.lease where lease_id = p_lease and expires_at > clock_timestamp();
  if not found then raise exception 'the lease has lapsed' using errcode = '55L01'; end if;
  begin
    select x.o_status, x.o_available into o_status, o_available from ledger.hold_run(p_books, p_wkind, p_wsub,
      p_wstart, p_wbix, p_id, p_bix, p_kix, p_pix, p_amount, p_cix, p_cscope, p_chash, p_cprint, p_lease, p_now,
      p_run, p_rcap) x;
    return;
  exception when data_exception or integrity_constraint_violation then null;
  end;
  -- A poisoned item or a repeat: all locks first, in order, then each item in a subtransaction of its own.
  perform from ledger.book where book_id = any (p_books) order by book_id for no key update;
  o_status := '';
  for i in 1..cardinality(p_id) loop
    begin
      select h.book_id into v_book from ledger.hold h where h.hold_id = p_id[i];
      if found then
        s := case when v_book = p_books[p_bix[i]] then 'o' else 'e' end; -- repeat of a hold that stands
      else
        v_claim := array_position(p_cix, i);
        select * into r from ledger.hold_run(p_books[p_bix[i]:p_bix[i]],
          array[p_wkind[p_kix[i]], p_wkind[p_pix[i]]], array[p_wsub[p_kix[i]], p_wsub[p_pix[i]]],
          array[p_wstart[p_kix[i]], p_wstart[p_pix[i]]], array[1, 1], p_id[i:i], array[1], array[1], array[2],
          p_amount[i:i], case when v_claim is null then '{}' else array[1] end, p_cscope[v_claim:v_claim],
          p_chash[v_claim:v_claim], p_cprint[v_claim:v_claim], p_lease, p_now, p_run[i:i], p_rcap[i:i]);
        s := r.o_status;
      end if;
    exception
      when data_exception then s := case when sqlstate = '22L01' then 'u' else 'e' end;
      when integrity_constraint_violation then s := 'e';
    end;
    o_status := o_status || coalesce(s, 'e');
  end loop;
  select array_agg(b.available order by u.i) into o_available
  from unnest(p_books) with ordinality u(id, i) left join ledger.book b on b.book_id = u.id;
end $function$
;
revoke execute on function ledger.hold from public;
grant execute on function ledger.hold to svc_runtime;

CREATE OR REPLACE FUNCTION ledger.hold_refused(p_books bigint[], p_wkind smallint[], p_wsub integer[], p_wstart date[], p_id uuid[], p_bix integer[], p_kix integer[], p_pix integer[], p_cix integer[], p_status text, p_now timestamp with time zone)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
-- What follows from refusals: claims are freed, `credits.exhausted` once per UTC day, `budget.exhausted` once.
declare
  r record;
begin
  delete from ledger.idempotency t using unnest(p_cix) c(i)
  where t.request_id = p_id[c.i] and substr(p_status, c.i, 1) in ('c', 'k', 'p', 'r', 'e');
  if strpos(p_status, 'c') > 0 then
    for r in
      update ledger.book t set exhausted_on = x.day
      from (select p_books[u.b] as book_id, max(p_wstart[u.k]) as day
            from unnest(p_bix, p_kix) with ordinality u(b, k, i) where substr(p_status, u.i::int, 1) = 'c' group by 1) x
      where t.book_id = x.book_id and (t.exhausted_on is null or t.exhausted_on < x.day)
      returning t.org_id, t.available, coalesce(t.low_mark, 0) as mark
    loop
      insert into ledger.outbox (org_id, topic, payload, created_at) values (r.org_id, 'credits.exhausted',
        jsonb_build_object('available_micro_usd', r.available, 'threshold_micro', r.mark), p_now);
    end loop;
  end if;
  for r in
    select distinct case substr(p_status, u.i::int, 1) when 'k' then u.k else u.p end as w
    from unnest(p_kix, p_pix) with ordinality u(k, p, i) where substr(p_status, u.i::int, 1) in ('k', 'p')
  loop
    perform ledger.exhaust(p_wkind[r.w], p_wsub[r.w], p_wstart[r.w], p_now);
  end loop;
end $function$
;
revoke execute on function ledger.hold_refused from public;

CREATE OR REPLACE FUNCTION ledger.hold_run(p_books bigint[], p_wkind smallint[], p_wsub integer[], p_wstart date[], p_wbix integer[], p_id uuid[], p_bix integer[], p_kix integer[], p_pix integer[], p_amount bigint[], p_cix integer[], p_cscope text[], p_chash bytea[], p_cprint bytea[], p_lease bigint, p_now timestamp with time zone, p_run uuid[], p_rcap bigint[], OUT o_status text, OUT o_available bigint[])
 RETURNS record
 LANGUAGE plpgsql
AS $function$
declare
  n int := cardinality(p_id);
  v_room0 bigint[];
  v_room bigint[];
  v_ok boolean[] := array_fill(true, array[n]);
  v_lost int[];
  v_count bigint;
  v_refused boolean := false;
  v_runs uuid[]; v_rbook int[]; v_used0 bigint[]; v_used bigint[]; v_rcap bigint[];
  a bigint; b int; k int; p int; g int;
begin
  select array_agg(x.available) into o_available
  from (select available from ledger.book where book_id = any (p_books) order by book_id for no key update) x;
  if cardinality(o_available) is distinct from cardinality(p_books) then
    raise exception 'unknown book' using errcode = '22L01';
  end if;
  o_status := repeat('o', n);

  if cardinality(p_cix) > 0 then
    delete from ledger.idempotency t using unnest(p_cscope, p_chash) c(scope, hash)
    where t.scope = c.scope and t.key_hash = c.hash and t.state <> 'running'
      and (t.state = 'lost' or t.ended_at < p_now - interval '24 hours');
    insert into ledger.idempotency (scope, key_hash, fingerprint, request_id, book_id, lease_id, created_at)
    select c.scope, c.hash, c.print, p_id[c.i], p_books[p_bix[c.i]], p_lease, p_now
    from unnest(p_cix, p_cscope, p_chash, p_cprint) c(i, scope, hash, print)
    on conflict on constraint one_claim_per_key do nothing;
    -- Lost is what is not claimed under its own id; a repeat after a lost COMMIT finds its own claim, which it keeps.
    select array_agg(c.i) into v_lost from unnest(p_cix, p_cscope, p_chash) c(i, scope, hash)
    where not exists (select from ledger.idempotency x
                      where x.scope = c.scope and x.key_hash = c.hash and x.request_id = p_id[c.i]);
    for i in 1..coalesce(cardinality(v_lost), 0) loop
      v_ok[v_lost[i]] := false;
      o_status := overlay(o_status placing 'd' from v_lost[i] for 1);
    end loop;
  end if;

  for pass in 1..2 loop
    select array_agg(case when w.hard and w.cap is not null then w.cap - w.spent - w.held
                     else 4611686018427387904 end order by u.i), count(w.book_id)
    into v_room0, v_count
    from unnest(p_wkind, p_wsub, p_wstart, p_wbix) with ordinality u(kind, sub, start, bix, i)
    -- LATERAL with LIMIT leaves the planner one choice, an index probe per window.
    left join lateral (select * from ledger.win x where x.kind = u.kind and x.subject = u.sub and x.start = u.start
                       and x.book_id = p_books[u.bix] limit 1) w on true;
    exit when v_count = cardinality(p_wsub);
    if pass = 2 then raise exception 'unknown key or project' using errcode = '22L01'; end if;
    perform ledger.win_create(p_books, p_wkind, p_wsub, p_wstart, p_wbix);
  end loop;

  if cardinality(p_run) > 0 then
    select array_agg(x.run), array_agg(x.bix), array_agg(x.used) into v_runs, v_rbook, v_used0
    from (select u.run, u.bix, coalesce(t.used, 0) as used
          from (select distinct y.run, y.bix from unnest(p_run, p_bix) y(run, bix) where y.run is not null) u
          left join lateral (select z.spent + z.held as used from ledger.run z
                             where z.book_id = p_books[u.bix] and z.run = u.run limit 1) t on true) x;
    v_used := v_used0;
    v_rcap := array_fill(null::bigint, array[coalesce(cardinality(v_runs), 0)]);
  end if;

  v_room := v_room0;
  for i in 1..n loop
    a := p_amount[i]; b := p_bix[i]; k := p_kix[i]; p := p_pix[i];
    if v_runs is not null then g := array_position(v_runs, p_run[i]); end if;
    if v_ok[i] and a <= o_available[b] and a <= v_room[k] and a <= v_room[p] and a >= 0
      and (g is null or v_used[g] + a <= p_rcap[i]) then
      o_available[b] := o_available[b] - a;
      v_room[k] := v_room[k] - a;
      v_room[p] := v_room[p] - a;
      if g is not null then
        v_used[g] := v_used[g] + a;
        v_rcap[g] := p_rcap[i];
      end if;
    elsif v_ok[i] then
      v_ok[i] := false;
      v_refused := true;
      o_status := overlay(o_status placing case
        when a is null or a < 0 then 'e' when a > o_available[b] then 'c' when a > v_room[k] then 'k'
        when a > v_room[p] then 'p' else 'r'
        end from i for 1);
    end if;
  end loop;

  update ledger.book t set available = u.a, held = t.held + (t.available - u.a)
  from unnest(p_books, o_available) u(id, a) where t.book_id = u.id and t.available <> u.a;
  update ledger.win w set held = w.held + (u.r0 - u.r)
  from unnest(p_wkind, p_wsub, p_wstart, v_room0, v_room) u(kind, sub, start, r0, r)
  where w.kind = u.kind and w.subject = u.sub and w.start = u.start and u.r0 <> u.r;
  if v_runs is not null then
    insert into ledger.run as t (book_id, run, cap, held, after_block, used_at)
    select b.book_id, u.run, u.cap, u.used - u.used0, b.block_no, p_now
    from unnest(v_runs, v_rbook, v_rcap, v_used0, v_used) u(run, bix, cap, used0, used)
    join ledger.book b on b.book_id = p_books[u.bix]
    where u.cap is not null
    on conflict (book_id, run) do update set held = t.held + excluded.held, cap = excluded.cap,
      used_at = ledger.used_at(t.used_at, excluded.used_at);
  end if;
  insert into ledger.hold (hold_id, book_id, amount, key_no, project_no, lease_id, run)
  select u.id, p_books[u.b], u.a, p_wsub[u.k], p_wsub[u.p], p_lease, u.run
  from unnest(p_id, p_bix, p_kix, p_pix, p_amount, v_ok, p_run) u(id, b, k, p, a, ok, run) where u.ok;
  if v_refused then
    if exists (select from unnest(p_id, v_ok) u(id, ok) join ledger.hold h on h.hold_id = u.id where not u.ok) then
      raise exception 'a hold that stands was sent again' using errcode = 'unique_violation';
    end if;
    perform ledger.hold_refused(p_books, p_wkind, p_wsub, p_wstart, p_id, p_bix, p_kix, p_pix, p_cix, o_status, p_now);
  end if;
end $function$
;
revoke execute on function ledger.hold_run from public;

CREATE OR REPLACE FUNCTION ledger.leave(p_schema text, p_place text, p_at timestamp with time zone)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
-- Ends this place for good. Statements that wait for a lock here are refused by triggers, later ones by the lack of rights.
declare
  v_table text;
begin
  insert into ledger.moved (place, at) values (p_place, p_at);
  for v_table in
    select c.relname from pg_class c
    where c.relnamespace = p_schema::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
      and c.relname not in ('moved', 'move_mark', 'svc_migration')
    order by c.relname collate "C"
  loop
    execute format('create trigger moved before insert or update or delete or truncate on %I.%I
                    execute function %I.refuse_moved()', p_schema, v_table, p_schema);
  end loop;
  execute format('revoke all on all tables in schema %I from svc_runtime', p_schema);
  execute format('revoke all on all functions in schema %I from svc_runtime', p_schema);
  execute format('grant select on %I.moved to svc_runtime', p_schema);
end $function$
;
revoke execute on function ledger.leave from public;

CREATE OR REPLACE FUNCTION ledger.make_meter_partitions(p_first date, p_months integer)
 RETURNS integer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET lock_timeout TO '100ms'
AS $function$
-- Makes the missing partitions of `p_months` months from `p_first` on; returns how many were made. A month whose
-- rows already lie in the default partition is left there. While something reads the records for long (a verification
-- does), the rest is left to the next run: every settle would queue behind a lock that waits.
declare
  v_month date := date_trunc('month', p_first::timestamp)::date;
  v_made int := 0;
begin
  for i in 1..p_months loop
    if to_regclass(format('ledger.meter_%s', to_char(v_month, 'YYYYMM'))) is null
       and not exists (select from ledger.meter_default where request_id >= ledger.month_floor(v_month)
                       and request_id < ledger.month_floor((v_month + interval '1 month')::date)) then
      begin
        execute format('create table ledger.meter_%s partition of ledger.meter for values from (%L) to (%L)',
          to_char(v_month, 'YYYYMM'), ledger.month_floor(v_month),
          ledger.month_floor((v_month + interval '1 month')::date));
      exception when lock_not_available then return v_made;
      end;
      v_made := v_made + 1;
    end if;
    v_month := (v_month + interval '1 month')::date;
  end loop;
  return v_made;
end $function$
;
revoke execute on function ledger.make_meter_partitions from public;
grant execute on function ledger.make_meter_partitions to svc_runtime;

CREATE OR REPLACE FUNCTION ledger.month_floor(p_month date)
 RETURNS uuid
 LANGUAGE sql
 IMMUTABLE
AS $function$
  -- Smallest request id of the month that holds `p_month`.
  select (lpad(to_hex((extract(epoch from date_trunc('month', p_month::timestamp)) * 1000)::bigint), 12, '0')
          || repeat('0', 20))::uuid
$function$
;
revoke execute on function ledger.month_floor from public;

CREATE OR REPLACE FUNCTION ledger.next_alert(p_cap bigint, p_alerts smallint[], p_alerted smallint)
 RETURNS bigint
 LANGUAGE sql
 IMMUTABLE
AS $function$
  -- Spend at which the next threshold above `p_alerted` percent is reached; null: none is left, or no budget.
  select ledger.threshold(p_cap, min(a)) from unnest(p_alerts) a where a > p_alerted
$function$
;
revoke execute on function ledger.next_alert from public;

CREATE OR REPLACE FUNCTION ledger.open_book(p_book bigint, p_org text, p_environment smallint, p_low_mark bigint)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
-- Makes the book; again it does nothing. Another book of (org, environment) is refused by its constraint.
begin
  insert into ledger.book (book_id, org_id, environment, low_mark) values (p_book, p_org, p_environment, p_low_mark)
  on conflict (book_id) do nothing;
  perform from ledger.book where book_id = p_book and org_id = p_org and environment = p_environment;
  if not found then raise exception 'the book is another one' using errcode = '22L01'; end if;
end $function$
;
revoke execute on function ledger.open_book from public;
grant execute on function ledger.open_book to svc_runtime;

CREATE OR REPLACE FUNCTION ledger.post(p_book ledger.book, p_amount bigint, p_granted bigint, p_kind smallint, p_ref_type text, p_ref_id text, p_lot bytea, p_now timestamp with time zone)
 RETURNS bigint
 LANGUAGE plpgsql
AS $function$
-- One entry in a block of its own; the caller has locked `p_book` and moved the lots. Returns the seq. `p_lot`: the
-- terms of the lot that a credit brings, covered by the hash.
declare
  v_at timestamptz := greatest(p_book.last_at, p_now);
  v_before bigint := p_book.available + p_book.held;
  v_lot bigint := ledger.first_lot(p_book.book_id);
  v_hash bytea := sha256(p_book.head || int8send(p_book.book_id) || int8send(p_book.block_no + 1)
    || int8send(p_book.seq + 1) || int8send(v_before) || timestamptz_send(v_at) || int8send(p_amount)
    || int2send(p_kind) || convert_to(p_ref_type || ' ' || p_ref_id, 'UTF8') || p_lot);
begin
  insert into ledger.entry (book_id, seq, amount, balance_after, created_at, kind, ref_type, ref_id)
  values (p_book.book_id, p_book.seq + 1, p_amount, v_before + p_amount, v_at, p_kind, p_ref_type, p_ref_id);
  insert into ledger.block (book_id, block_no, first_seq, entries, meters, created_at, hash)
  values (p_book.book_id, p_book.block_no + 1, p_book.seq + 1, 1, 0, v_at, v_hash);
  update ledger.book set available = available + p_amount, granted = granted + p_granted, seq = seq + 1,
    block_no = block_no + 1, head = v_hash, last_at = v_at, current_lot_no = v_lot
  where book_id = p_book.book_id;
  if p_book.low_mark > v_before + p_amount and p_book.low_mark <= v_before then
    perform ledger.tell_low(p_book.book_id, v_before + p_amount, p_book.low_mark, p_now);
  end if;
  return p_book.seq + 1;
end $function$
;
revoke execute on function ledger.post from public;

CREATE OR REPLACE FUNCTION ledger.purge_runs(p_idle_since timestamp with time zone, p_limit integer)
 RETURNS integer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
-- Forgets at most `p_limit` runs that nothing is held for and that no call has used since; returns how many.
declare
  v_count int;
begin
  delete from ledger.run t using (
    select x.book_id, x.run from ledger.run x where x.used_at < p_idle_since and x.held = 0 limit p_limit
  ) old
  where t.book_id = old.book_id and t.run = old.run and t.used_at < p_idle_since and t.held = 0;
  get diagnostics v_count = row_count;
  return v_count;
end $function$
;
revoke execute on function ledger.purge_runs from public;
grant execute on function ledger.purge_runs to svc_runtime;

CREATE OR REPLACE FUNCTION ledger.refuse_moved()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  v_place text;
begin
  execute format('select place from %I.moved', tg_table_schema) into v_place;
  raise exception 'the ledger has moved to %', v_place using errcode = '55L02';
end $function$
;
revoke execute on function ledger.refuse_moved from public;

CREATE OR REPLACE FUNCTION ledger.release(p_books bigint[], p_id uuid[])
 RETURNS integer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  return (select count(*)::int from ledger.release_run(p_books, p_id, false));
end $function$
;
revoke execute on function ledger.release from public;
grant execute on function ledger.release to svc_runtime;

CREATE OR REPLACE FUNCTION ledger.release_run(p_books bigint[], p_id uuid[], p_lapsed boolean)
 RETURNS TABLE(request_id uuid, book_id bigint, key_no integer, project_no integer, amount bigint)
 LANGUAGE plpgsql
AS $function$
-- Gives holds back and frees their claims; ids without a hold are ignored. With `p_lapsed` only those whose lease
-- has lapsed still, now that the book is locked; their claims are lost, and stay to tell a call that was slow, and not dead.
#variable_conflict use_column
declare
  v_now timestamptz;
  v_ids uuid[] := '{}'; v_of bigint[]; v_keys int[]; v_projects int[]; v_amounts bigint[]; v_days date[];
  v_runs uuid[]; v_in_run boolean := false;
  r record;
begin
  perform from ledger.book b where b.book_id = any (p_books) order by b.book_id for no key update;
  v_now := clock_timestamp();
  for r in
    delete from ledger.hold t using unnest(p_id) u(id)
    where t.hold_id = u.id and t.book_id = any (p_books)
      and not (p_lapsed and exists (select from ledger.lease l where l.lease_id = t.lease_id and l.expires_at > v_now))
    returning t.hold_id, t.book_id, t.key_no, t.project_no, t.amount, t.run
  loop
    v_ids := v_ids || r.hold_id;
    v_of := v_of || r.book_id;
    v_keys := v_keys || r.key_no;
    v_projects := v_projects || r.project_no;
    v_amounts := v_amounts || r.amount;
    v_days := v_days || ledger.ulid_day(r.hold_id);
    v_runs := array_append(v_runs, r.run);
    if r.run is not null then v_in_run := true; end if;
  end loop;
  if p_lapsed then
    update ledger.idempotency t set state = 'lost', ended_at = v_now from unnest(v_ids) u(id)
    where t.request_id = u.id and t.book_id = any (p_books) and t.state = 'running'
      and not exists (select from ledger.meter q where q.request_id = u.id);
  else
    delete from ledger.idempotency t using unnest(p_id) u(id)
    where t.request_id = u.id and t.book_id = any (p_books) and t.state <> 'done'
      and not exists (select from ledger.meter q where q.request_id = u.id);
  end if;
  if v_ids = '{}' then return; end if;
  update ledger.win w set held = w.held - x.a
  from (select y.kind, y.subject, y.start, sum(y.amount)::bigint as a
        from (select 1::smallint as kind, d.key_no as subject, d.day as start, d.amount
              from unnest(v_keys, v_days, v_amounts) d(key_no, day, amount)
              union all
              select 2::smallint, d.project_no, date_trunc('month', d.day::timestamp)::date, d.amount
              from unnest(v_projects, v_days, v_amounts) d(project_no, day, amount)) y
        group by 1, 2, 3) x
  where w.kind = x.kind and w.subject = x.subject and w.start = x.start;
  if v_in_run then
    update ledger.run t set held = t.held - x.a
    from (select d.book_id, d.run, sum(d.amount)::bigint as a
          from unnest(v_of, v_runs, v_amounts) d(book_id, run, amount) where d.run is not null group by 1, 2) x
    where t.book_id = x.book_id and t.run = x.run;
  end if;
  update ledger.book t set held = t.held - x.a, available = t.available + x.a
  from (select d.book_id, sum(d.amount)::bigint as a from unnest(v_of, v_amounts) d(book_id, amount) group by 1) x
  where t.book_id = x.book_id;
  return query select * from unnest(v_ids, v_of, v_keys, v_projects, v_amounts);
end $function$
;
revoke execute on function ledger.release_run from public;

CREATE OR REPLACE FUNCTION ledger.renew_lease(p_lease bigint)
 RETURNS boolean
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
-- Renews a lease for its length; false when it is gone.
declare
  v_seconds int;
  v_until timestamptz;
begin
  select seconds into v_seconds from ledger.lease where lease_id = p_lease for no key update;
  v_until := clock_timestamp() + make_interval(secs => v_seconds);
  update ledger.lease set expires_at = v_until where lease_id = p_lease;
  return found;
end $function$
;
revoke execute on function ledger.renew_lease from public;
grant execute on function ledger.renew_lease to svc_runtime;

CREATE OR REPLACE FUNCTION ledger.restore(p_book bigint, p_debit_kind smallint, p_kind smallint, p_ref_type text, p_ref_id text, p_lot_ids text[], p_now timestamp with time zone, OUT o_status text, OUT o_seq bigint, OUT o_amount bigint)
 RETURNS record
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
-- Puts back what the debit of this reference took, once: one entry, and a lot for each lot that the credit came from,
-- with its terms, its age and its place in the burn order. Status: ok, replay, nothing (there is no such debit, or it
-- took nothing). `p_lot_ids` are as many as the lots.
declare
  v ledger.book;
  v_debit bigint;
  v_granted bigint := 0;
  v_terms bytea := '';
  v_n int := 0;
  r record;
begin
  select * into strict v from ledger.book where book_id = p_book for no key update;
  select e.seq, e.amount into o_seq, o_amount from ledger.entry e
  where e.book_id = p_book and e.kind = p_kind and e.ref_type = p_ref_type and e.ref_id = p_ref_id and p_kind <> 16;
  if found then o_status := 'replay'; return; end if;
  select e.seq into v_debit from ledger.entry e where e.book_id = p_book and e.kind = p_debit_kind
    and e.ref_type = p_ref_type and e.ref_id = p_ref_id and p_debit_kind <> 16;
  o_amount := 0;
  for r in
    select l.origin_seq, l.is_grant, l.expires_at, l.created_at, sum(b.to_micro - b.from_micro)::bigint as amount
    from ledger.burn b join ledger.lot l on l.lot_no = b.lot_no
    where b.book_id = p_book and b.seq = v_debit group by 1, 2, 3, 4 order by 1
  loop
    v_n := v_n + 1;
    insert into ledger.lot (lot_id, book_id, seq, origin_seq, is_grant, expires_at, created_at, amount)
    values (p_lot_ids[v_n], p_book, v.seq + 1, r.origin_seq, r.is_grant, r.expires_at, r.created_at, r.amount);
    v_terms := v_terms || timestamptz_send(r.expires_at) || boolsend(r.is_grant)
      || convert_to(p_lot_ids[v_n], 'UTF8') || int8send(r.amount) || int8send(r.origin_seq);
    if r.is_grant then v_granted := v_granted + r.amount; end if;
    o_amount := o_amount + r.amount;
  end loop;
  if v_n = 0 then o_status := 'nothing'; return; end if;
  o_seq := ledger.post(v, o_amount, v_granted, p_kind, p_ref_type, p_ref_id, v_terms, p_now);
  o_status := 'ok';
end $function$
;
revoke execute on function ledger.restore from public;
grant execute on function ledger.restore to svc_runtime;

CREATE OR REPLACE FUNCTION ledger.resume(p_kind smallint, p_subject integer, p_start date, p_version bigint)
 RETURNS boolean
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
-- Lifts the hard rule for the rest of one window; false when there is no hard window to lift, or an order of a higher
-- `p_version` has been carried out.
begin
  perform from ledger.book b join ledger.win w using (book_id)
  where w.kind = p_kind and w.subject = p_subject and w.start = p_start for no key update of b;
  update ledger.budget set version = greatest(version, p_version)
  where kind = p_kind and subject = p_subject and (p_version is null or version <= p_version);
  if not found then return false; end if;
  update ledger.win set hard = false, exhausted_at = null
  where kind = p_kind and subject = p_subject and start = p_start and hard;
  return found;
end $function$
;
revoke execute on function ledger.resume from public;
grant execute on function ledger.resume to svc_runtime;

CREATE OR REPLACE FUNCTION ledger.set_budget(p_book bigint, p_kind smallint, p_subject integer, p_cap bigint, p_hard boolean, p_alerts smallint[], p_today date, p_version bigint)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
-- Sets the budget and the window that holds `p_today`. Thresholds above the new share of the cap are armed again.
-- Does nothing once an order of a higher `p_version` has been carried out; null is nobody's order.
declare
  v_start date := case p_kind when 1 then p_today else date_trunc('month', p_today::timestamp)::date end;
  w ledger.win;
begin
  perform from ledger.book where book_id = p_book for no key update;
  if not found then raise exception 'unknown book' using errcode = '22L01'; end if;
  perform from ledger.budget b
  where b.kind = p_kind and b.subject = p_subject and b.book_id = p_book and b.version > p_version;
  if found then return; end if;
  insert into ledger.budget (kind, subject, book_id, cap, hard, alerts, version)
  values (p_kind, p_subject, p_book, p_cap, p_hard, p_alerts, coalesce(p_version, 0))
  on conflict (kind, subject) do update set cap = p_cap, hard = p_hard, alerts = p_alerts,
    version = greatest(budget.version, p_version)
  where budget.book_id = p_book;
  if not found then raise exception 'the subject belongs to another book' using errcode = '22L01'; end if;
  select * into w from ledger.win t where t.kind = p_kind and t.subject = p_subject and t.start = v_start;
  if not found then return; end if;
  w.alerted := least(w.alerted, coalesce(
    (select max(a) from unnest(p_alerts) a where w.spent >= ledger.threshold(p_cap, a)), 0));
  update ledger.win t set cap = p_cap, hard = p_hard, alerted = w.alerted,
    next_alert = ledger.next_alert(p_cap, p_alerts, w.alerted),
    exhausted_at = case when p_hard and p_cap <= t.spent + t.held then t.exhausted_at end
  where t.kind = p_kind and t.subject = p_subject and t.start = v_start;
end $function$
;
revoke execute on function ledger.set_budget from public;
grant execute on function ledger.set_budget to svc_runtime;

CREATE OR REPLACE FUNCTION ledger.set_low_mark(p_book bigint, p_low_mark bigint)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  update ledger.book set low_mark = p_low_mark where book_id = p_book;
end $function$
;
revoke execute on function ledger.set_low_mark from public;
grant execute on function ledger.set_low_mark to svc_runtime;

CREATE OR REPLACE FUNCTION ledger.settle(p_books bigint[], p_wkind smallint[], p_wsub integer[], p_wstart date[], p_wbix integer[], p_id uuid[], p_bix integer[], p_kix integer[], p_pix integer[], p_cost bigint[], p_nums integer[], p_claimed uuid[], p_now timestamp with time zone, p_run uuid[] DEFAULT '{}'::uuid[], OUT o_status text, OUT o_charged bigint[], OUT o_available bigint[])
 RETURNS record
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
  r record;
begin
  begin
    select x.o_status, x.o_charged, x.o_available into o_status, o_charged, o_available
    from ledger.settle_run(p_books, p_wkind, p_wsub, p_wstart, p_wbix, p_id, p_bix, p_kix, p_pix, p_cost, p_nums,
      p_now, p_run, p_claimed) x;
  exception when data_exception or integrity_constraint_violation then
    o_status := null;
  end;
  if o_status is null then -- as in hold: all locks first, then item by item
    perform from ledger.book where book_id = any (p_books) order by book_id for no key update;
    o_status := '';
    o_charged := p_cost;
    for i in 1..cardinality(p_id) loop
      begin
        select * into r from ledger.settle_run(p_books[p_bix[i]:p_bix[i]],
          array[p_wkind[p_kix[i]], p_wkind[p_pix[i]]], array[p_wsub[p_kix[i]], p_wsub[p_pix[i]]],
          array[p_wstart[p_kix[i]], p_wstart[p_pix[i]]], array[1, 1], p_id[i:i], array[1], array[1], array[2],
          p_cost[i:i], p_nums[i * 12 - 11:i * 12] || ledger.units_alone(p_nums, cardinality(p_id), i), p_now,
          p_run[i:i], p_claimed);
        o_status := o_status || coalesce(r.o_status, 'e');
        if r.o_charged is not null then o_charged[i] := r.o_charged[1]; end if;
      exception
        when data_exception then o_status := o_status || case when sqlstate = '22L01' then 'u' else 'e' end;
        when integrity_constraint_violation then o_status := o_status || 'e';
      end;
    end loop;
    select array_agg(b.available order by u.i) into o_available
    from unnest(p_books) with ordinality u(id, i) left join ledger.book b on b.book_id = u.id;
  end if;
  if cardinality(p_claimed) > 0 then
    update ledger.idempotency t set state = 'done', ended_at = p_now, cost = q.cost from ledger.meter q
    where t.request_id = any (p_claimed) and q.request_id = t.request_id and t.state <> 'done';
  end if;
end $function$
;
revoke execute on function ledger.settle from public;
grant execute on function ledger.settle to svc_runtime;

CREATE OR REPLACE FUNCTION ledger.settle_run(p_books bigint[], p_wkind smallint[], p_wsub integer[], p_wstart date[], p_wbix integer[], p_id uuid[], p_bix integer[], p_kix integer[], p_pix integer[], p_cost bigint[], p_nums integer[], p_now timestamp with time zone, p_run uuid[], p_claimed uuid[], OUT o_status text, OUT o_charged bigint[], OUT o_available bigint[])
 RETURNS record
 LANGUAGE plpgsql
AS $function$
declare
  n int := cardinality(p_id);
  m int := cardinality(p_books);
  v_count int; v_deleted int; v_is_due boolean := false;
  v_found int[]; v_gone uuid[]; v_amount bigint[]; v_hold bigint[]; v_dup int[]; v_keep int[];
  v_held bigint[]; v_granted bigint[]; v_seq bigint[]; v_block bigint[]; v_head bytea[]; v_lot bigint[];
  v_low bigint[]; v_at timestamptz[];
  v_first bigint[]; v_taken bigint[]; v_n int[]; v_lo int[];
  v_charged bigint[]; v_balance bigint[]; v_eseq bigint[]; v_spend bigint[]; v_unheld bigint[];
  v_off boolean := false;
  v_burned int[]; v_burned_lot bigint[]; v_burned_to bigint[]; v_burned_by bigint[];
  v_units text[]; -- of each item its other units as an array literal, or null; null when no item has any
  v_run uuid[]; -- of each item the run whose budget it counts in, or null; null when no item has any
  v_found_run uuid[]; v_runs int;
  v_last uuid;
  r record;
  a bigint; sh bigint; s bigint; t bigint; h bigint; c bigint; b int; cb int := 0; k int; lo int; hi int;
begin
  select array_agg(x.available), array_agg(x.held), array_agg(x.granted), array_agg(x.seq), array_agg(x.block_no),
    array_agg(x.head), array_agg(x.current_lot_no), array_agg(x.low_mark), array_agg(greatest(x.last_at, p_now))
  into o_available, v_held, v_granted, v_seq, v_block, v_head, v_lot, v_low, v_at
  from (select * from ledger.book where book_id = any (p_books) order by book_id for no key update) x;
  if cardinality(o_available) is distinct from m then
    raise exception 'unknown book' using errcode = '22L01';
  end if;

  if cardinality(p_nums) > n * 12 then v_units := ledger.units_by_item(p_nums, n); end if;

  -- Deleting the hold is what makes a settle happen once; the primary key of the meter is the second lock.
  select array_agg(u.i order by u.i), array_agg(t.amount order by u.i), array_agg(u.id), count(*),
    array_agg(t.run order by u.i), count(t.run)
  into v_found, v_amount, v_gone, v_count, v_found_run, v_runs
  from unnest(p_id, p_bix) with ordinality u(id, b, i)
  cross join lateral (select x.amount, x.run from ledger.hold x
                      where x.hold_id = u.id and x.book_id = p_books[u.b] limit 1) t;
  if v_count > 0 then
    delete from ledger.hold t where t.hold_id = any (v_gone);
    get diagnostics v_deleted = row_count;
    -- Fewer holds than items: their book is locked, so nobody else took one.
    if v_deleted <> v_count then raise exception 'an id twice in one batch' using errcode = '22L04'; end if;
  end if;

  -- A hold names its run; of a call whose hold is gone the settle says it.
  if v_runs > 0 or cardinality(p_run) > 0 then
    v_run := case when cardinality(p_run) > 0 then p_run else array_fill(null::uuid, array[n]) end;
    for i in 1..v_count loop v_run[v_found[i]] := v_found_run[i]; end loop;
  end if;

  o_status := repeat('s', n);
  if v_count = n then
    v_hold := v_amount;
  else -- some holds are missing: settled before, lost, released or swept
    v_hold := array_fill(null::bigint, array[n]);
    for i in 1..v_count loop v_hold[v_found[i]] := v_amount[i]; end loop;
    for r in
      select u.i::int as i, case when q.is_metered then 'd' when t.is_held then 'e'
        when u.id = any (p_claimed) and c.is_ours is null then 'r' else 'l' end as letter
      from unnest(p_id, v_hold) with ordinality u(id, h, i)
      left join lateral (select true as is_metered from ledger.meter x where x.request_id = u.id limit 1) q on true
      left join lateral (select true as is_held from ledger.hold x where x.hold_id = u.id limit 1) t on true
      left join lateral (select true as is_ours from ledger.idempotency x where x.request_id = u.id limit 1) c on true
      where u.h is null
    loop
      o_status := overlay(o_status placing r.letter from r.i for 1);
      if r.letter = 'l' then v_hold[r.i] := 0; else v_dup := v_dup || r.i; end if;
    end loop;
    if v_dup is not null then -- go on with the others alone
      if cardinality(v_dup) = n then return; end if;
      select array_agg(j), array_agg(p_id[j]), array_agg(p_bix[j]), array_agg(p_kix[j]), array_agg(p_pix[j]),
        array_agg(p_cost[j]), array_agg(v_hold[j]), case when v_units is not null then array_agg(v_units[j]) end,
        case when v_run is not null then array_agg(v_run[j]) end
      into v_keep, p_id, p_bix, p_kix, p_pix, p_cost, v_hold, v_units, v_run
      from (select j from generate_series(1, n) j where j <> all (v_dup) order by j) x;
      select array_agg(p_nums[(x.j - 1) * 12 + y] order by x.i, y) into p_nums
      from unnest(v_keep) with ordinality x(j, i), generate_series(1, 12) y;
      n := cardinality(p_id);
    end if;
    perform ledger.win_create(p_books, p_wkind, p_wsub, p_wstart, p_wbix);
  end if;

  v_charged := p_cost; v_balance := p_cost; v_eseq := p_cost;
  v_first := array_fill(0::bigint, array[m]); v_taken := v_first;
  v_n := array_fill(0, array[m]); v_lo := v_n;
  v_spend := array_fill(0::bigint, array[cardinality(p_wsub)]); v_unheld := v_spend;
  for i in 1..n loop
    b := p_bix[i]; h := v_hold[i]; c := p_cost[i];
    if b <> cb then
      if b < cb then raise exception 'items not grouped by book' using errcode = '22L02'; end if;
      if cb > 0 then
        o_available[cb] := a; v_held[cb] := sh; v_seq[cb] := s; v_taken[cb] := t; v_n[cb] := i - v_lo[cb];
      end if;
      cb := b; a := o_available[b]; sh := v_held[b]; s := v_seq[b]; t := 0; v_lo[b] := i; v_first[b] := s + 1;
    elsif p_id[i] <= v_last then
      raise exception 'items not ascending' using errcode = '22L02';
    end if;
    v_last := p_id[i];
    if c < 0 then raise exception 'negative cost' using errcode = '22L03'; end if;
    a := a + h;
    sh := sh - h;
    if c > 0 then s := s + 1; v_eseq[i] := s; else v_eseq[i] := 0; end if;
    if c > a then c := a; v_charged[i] := c; v_off := true; end if; -- never below zero; the rest is written off
    a := a - c;
    t := t + c;
    v_balance[i] := a + sh;
    k := p_kix[i]; v_spend[k] := v_spend[k] + c; v_unheld[k] := v_unheld[k] + h;
    k := p_pix[i]; v_spend[k] := v_spend[k] + c; v_unheld[k] := v_unheld[k] + h;
  end loop;
  o_available[cb] := a; v_held[cb] := sh; v_seq[cb] := s; v_taken[cb] := t; v_n[cb] := n + 1 - v_lo[cb];

  insert into ledger.entry (book_id, seq, amount, balance_after, created_at, request_id, kind)
  select p_books[u.b], u.s, -u.c, u.balance, v_at[u.b], u.id, 1
  from unnest(p_id, p_bix, v_eseq, v_charged, v_balance) u(id, b, s, c, balance) where u.s > 0;
  insert into ledger.meter
  select u.id, p_books[u.b], v_block[u.b] + 1, nullif(u.s, 0), u.c, p_wsub[u.k], p_wsub[u.p],
    p_nums[u.o - 11], p_nums[u.o - 10], p_nums[u.o - 9], p_nums[u.o - 8], p_nums[u.o - 7], p_nums[u.o - 6],
    p_nums[u.o - 5], p_nums[u.o - 4], p_nums[u.o - 3], p_nums[u.o - 2], p_nums[u.o - 1], p_nums[u.o] <> 0,
    v_units[u.o / 12]::int[], v_run[u.o / 12]
  from (select x.*, x.i::int * 12 as o from unnest(p_id, p_bix, v_eseq, p_cost, p_kix, p_pix)
        with ordinality x(id, b, s, c, k, p, i)) u;
  if v_off then
    insert into ledger.writeoff (book_id, seq, amount, request_id)
    select p_books[u.b], u.s, u.c - u.g, u.id
    from unnest(p_id, p_bix, v_eseq, p_cost, v_charged) u(id, b, s, c, g) where u.c > u.g;
  end if;

  if v_run is not null then
    -- A run without a row is one of late calls alone, for which nothing is held.
    insert into ledger.run as t (book_id, run, cap, spent, held, after_block, used_at)
    select p_books[u.b], u.run, 0, sum(u.g)::bigint, sum(u.h)::bigint, min(v_block[u.b]), p_now
    from unnest(v_run, p_bix, v_charged, v_hold) u(run, b, g, h) where u.run is not null group by 1, 2
    on conflict (book_id, run) do update set spent = t.spent + excluded.spent, held = t.held - excluded.held,
      used_at = ledger.used_at(t.used_at, excluded.used_at);
  end if;

  -- Lots: the current lot takes all of it ...
  for r in
    update ledger.lot l set burned = l.burned + u.t from unnest(v_lot, v_taken) with ordinality u(lot_no, t, i)
    where l.lot_no = u.lot_no and u.t > 0 and l.burned + u.t < l.amount
    returning u.i::int as i, u.t, l.lot_no, l.burned, l.is_grant
  loop
    v_burned := v_burned || r.i;
    v_burned_lot := v_burned_lot || r.lot_no;
    v_burned_to := v_burned_to || r.burned;
    v_burned_by := v_burned_by || r.t;
    if r.is_grant then v_granted[r.i] := v_granted[r.i] - r.t; end if;
    v_taken[r.i] := -r.t; -- negative: burned
  end loop;
  if v_burned is not null then
    insert into ledger.burn (lot_no, from_micro, to_micro, book_id, block_no)
    select u.lot_no, u.upto - u.t, u.upto, p_books[u.i], v_block[u.i] + 1
    from unnest(v_burned, v_burned_lot, v_burned_to, v_burned_by) u(i, lot_no, upto, t);
  end if;
  for b in 1..m loop
    continue when v_n[b] = 0;
    t := abs(v_taken[b]);
    if v_taken[b] > 0 then -- ... or the walk goes on through the lots in burn order
      v_granted[b] := v_granted[b] - ledger.burn_lots(p_books[b], v_block[b] + 1, t, null, false, null);
      v_lot[b] := ledger.first_lot(p_books[b]);
    end if;
    s := o_available[b] + v_held[b];
    if v_low[b] > s and v_low[b] <= s + t then perform ledger.tell_low(p_books[b], s, v_low[b], p_now); end if;
    lo := v_lo[b];
    hi := lo + v_n[b] - 1;
    v_block[b] := v_block[b] + 1;
    v_head[b] := sha256(v_head[b] || int8send(p_books[b]) || int8send(v_block[b]) || int8send(v_first[b])
      || int8send(s + t) || timestamptz_send(v_at[b]) || array_send(p_id[lo:hi]) || array_send(v_charged[lo:hi])
      || array_send(p_cost[lo:hi]) || array_send(p_nums[lo * 12 - 11:hi * 12])
      || case when v_units is null then '' else ledger.units_send(v_units[lo:hi]) end);
  end loop;

  v_count := 0;
  for r in
    update ledger.win w set spent = w.spent + u.spend, held = w.held - u.unheld
    from unnest(p_wkind, p_wsub, p_wstart, p_wbix, v_spend, v_unheld) u(kind, sub, start, bix, spend, unheld)
    where w.kind = u.kind and w.subject = u.sub and w.start = u.start and w.book_id = p_books[u.bix]
    returning w.spent >= w.next_alert or (w.hard and w.spent >= w.cap and w.exhausted_at is null) as is_due
  loop
    v_count := v_count + 1;
    if r.is_due then v_is_due := true; end if;
  end loop;
  if v_count <> cardinality(p_wsub) then
    raise exception 'unknown key or project' using errcode = '22L01';
  end if;
  if v_is_due then perform ledger.tell_budgets(p_wkind, p_wsub, p_wstart, p_now); end if;

  insert into ledger.block (book_id, block_no, first_seq, entries, meters, created_at, hash)
  select u.id, u.block_no, u.first, (u.seq - u.first + 1)::int, u.n, u.at, u.head
  from unnest(p_books, v_block, v_first, v_seq, v_n, v_at, v_head) u(id, block_no, first, seq, n, at, head)
  where u.n > 0;
  update ledger.book t set available = u.a, held = u.h, granted = u.g, seq = u.s, block_no = u.block_no,
    head = u.head, current_lot_no = u.lot, last_at = u.at
  from unnest(p_books, o_available, v_held, v_granted, v_seq, v_block, v_head, v_lot, v_at, v_n)
    u(id, a, h, g, s, block_no, head, lot, at, n)
  where t.book_id = u.id and u.n > 0;
  if v_off and v_keep is null then
    o_charged := v_charged;
  elsif v_off then
    o_charged := array_fill(0::bigint, array[length(o_status)]);
    for i in 1..n loop o_charged[v_keep[i]] := v_charged[i]; end loop;
  end if;
end $function$
;
revoke execute on function ledger.settle_run from public;

CREATE OR REPLACE FUNCTION ledger.sweep(p_limit integer)
 RETURNS TABLE(request_id uuid, book_id bigint, key_no integer, project_no integer, amount bigint)
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
-- Releases at most `p_limit` holds whose lease has lapsed and returns them. No lease could be renewed while the server was
-- away, so it waits one lease time first, in which gateways renew and settle from their journals: after a start of
-- the server, after another one took over, and when nobody has swept for half a minute (six runs of the job), as
-- when the server was frozen. Clocks of servers differ; what one of them wrote is judged by the other only after that time.
#variable_conflict use_column
declare
  v_books bigint[];
  v_ids uuid[];
  v_now timestamptz := clock_timestamp();
  v_timeline text := ledger.timeline();
  v_steady interval;
  s ledger.sweeping;
begin
  select * into s from ledger.sweeping for update;
  if s.timeline <> v_timeline or v_now - s.ran_at not between interval '0' and interval '30 seconds' then
    s.steady_since := v_now;
  end if;
  update ledger.sweeping set timeline = v_timeline, ran_at = v_now, steady_since = s.steady_since;
  v_steady := v_now - greatest(pg_postmaster_start_time(), s.steady_since);

  select array_agg(distinct x.book_id), array_agg(x.hold_id) into v_books, v_ids
  from (select h.book_id, h.hold_id from ledger.hold h left join ledger.lease l using (lease_id)
        where l.expires_at is null or (l.expires_at < v_now and make_interval(secs => l.seconds) < v_steady)
        limit p_limit) x;
  if v_ids is not null then
    return query select * from ledger.release_run(v_books, v_ids, true);
  end if;
  v_now := clock_timestamp();
  -- Claims whose process died between settle and answer: charged, but nothing to replay.
  update ledger.idempotency t set state = 'done', ended_at = v_now, cost = q.cost from ledger.meter q
  where t.state = 'running' and q.request_id = t.request_id
    and not exists (select from ledger.lease l where l.lease_id = t.lease_id
      and (l.expires_at > v_now or make_interval(secs => l.seconds) >= v_steady));
  -- A lease stays for a day after its end: its id is never given out again.
  delete from ledger.lease l where l.expires_at < v_now - interval '1 day'
    and not exists (select from ledger.hold h where h.lease_id = l.lease_id)
    and not exists (select from ledger.idempotency i where i.lease_id = l.lease_id and i.state = 'running');
end $function$
;
revoke execute on function ledger.sweep from public;
grant execute on function ledger.sweep to svc_runtime;

CREATE OR REPLACE FUNCTION ledger.take_lease(p_process text, p_seconds integer, p_places text[])
 RETURNS bigint
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
-- A lease for a process, which knows `p_places` of the ledger; its number.
declare
  v_until timestamptz := clock_timestamp() + make_interval(secs => p_seconds);
  v_lease bigint;
begin
  insert into ledger.lease (process, seconds, places, expires_at) values (p_process, p_seconds, p_places, v_until)
  returning lease_id into v_lease;
  return v_lease;
end $function$
;
revoke execute on function ledger.take_lease from public;
grant execute on function ledger.take_lease to svc_runtime;

CREATE OR REPLACE FUNCTION ledger.tell_budgets(p_wkind smallint[], p_wsub integer[], p_wstart date[], p_now timestamp with time zone)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
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
end $function$
;
revoke execute on function ledger.tell_budgets from public;

CREATE OR REPLACE FUNCTION ledger.tell_low(p_book bigint, p_balance bigint, p_mark bigint, p_now timestamp with time zone)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  insert into ledger.outbox (org_id, topic, payload, created_at)
  select org_id, 'credits.low', jsonb_build_object('available_micro_usd', p_balance, 'threshold_micro', p_mark), p_now
  from ledger.book where book_id = p_book;
end $function$
;
revoke execute on function ledger.tell_low from public;

CREATE OR REPLACE FUNCTION ledger.threshold(p_cap bigint, p_percent smallint)
 RETURNS bigint
 LANGUAGE sql
 IMMUTABLE
AS $function$
  -- Spend that is `p_percent` of `p_cap`, rounded up, at least 1. `greatest` alone would turn "no budget" into 1.
  select case when p_cap is not null and p_percent is not null then greatest(1, (p_cap * p_percent + 99) / 100) end
$function$
;
revoke execute on function ledger.threshold from public;

CREATE OR REPLACE FUNCTION ledger.timeline()
 RETURNS text
 LANGUAGE plpgsql
AS $function$
-- The timeline that the server writes to, which every promotion of a standby ends; empty where a server does not say.
begin
  return substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8);
exception when feature_not_supported or undefined_function or insufficient_privilege then
  return '';
end $function$
;
revoke execute on function ledger.timeline from public;

CREATE OR REPLACE FUNCTION ledger.ulid_day(p_id uuid)
 RETURNS date
 LANGUAGE sql
 IMMUTABLE
AS $function$
  -- UTC day of a ULID kept as uuid: 48 bits of milliseconds come first.
  select (to_timestamp(('x' || left(replace(p_id::text, '-', ''), 12))::bit(48)::bigint / 1000.0)
          at time zone 'UTC')::date
$function$
;
revoke execute on function ledger.ulid_day from public;
grant execute on function ledger.ulid_day to svc_runtime;

CREATE OR REPLACE FUNCTION ledger.units_alone(p_nums integer[], p_items integer, p_item integer)
 RETURNS integer[]
 LANGUAGE sql
 IMMUTABLE
AS $function$
  -- The other units of one item of a batch, as they stand behind its twelve integers in a batch of its own. Those of
  -- no item go with every one, so that each is refused.
  select coalesce(
    array_agg(case when t.o > 0 then p_nums[i + t.o] when p_nums[i] = p_item then 1 end order by i, t.o), '{}')
  from generate_series(p_items * 12 + 1, cardinality(p_nums), 3) i, generate_series(0, 2) t(o)
  where p_nums[i] = p_item or (p_nums[i] between 1 and p_items) is not true
$function$
;
revoke execute on function ledger.units_alone from public;

CREATE OR REPLACE FUNCTION ledger.units_are_known(p_units integer[])
 RETURNS boolean
 LANGUAGE plpgsql
 IMMUTABLE
AS $function$
-- Pairs of kind and count, kinds known and ascending, counts not negative. Having none is null, never an empty array.
-- Not in SQL: of such a function the planner looks into the body at every insert, whether it is called or not.
declare
  v_last int := 0;
begin
  if array_ndims(p_units) is distinct from 1 or cardinality(p_units) % 2 <> 0 then return false; end if;
  for i in 1..cardinality(p_units) by 2 loop
    if (p_units[i] between v_last + 1 and 7 and p_units[i + 1] >= 0) is not true then return false; end if;
    v_last := p_units[i];
  end loop;
  return true;
end $function$
;
revoke execute on function ledger.units_are_known from public;

CREATE OR REPLACE FUNCTION ledger.units_by_item(p_nums integer[], p_items integer)
 RETURNS text[]
 LANGUAGE plpgsql
 IMMUTABLE
AS $function$
-- What stands in `p_nums` behind the twelve integers of each item: of each item its other units as an array literal.
declare
  v_units text[] := array_fill(null::text, array[p_items]);
  v_item int;
begin
  if (cardinality(p_nums) - p_items * 12) % 3 <> 0 then
    raise exception 'other units that are no triples' using errcode = '22L05';
  end if;
  for i in p_items * 12 + 1..cardinality(p_nums) by 3 loop
    v_item := p_nums[i];
    if v_item is null or v_item not between 1 and p_items then
      raise exception 'other units of no item' using errcode = '22L05';
    end if;
    v_units[v_item] := coalesce(rtrim(v_units[v_item], '}') || ',', '{') || coalesce(p_nums[i + 1]::text, 'NULL')
      || ',' || coalesce(p_nums[i + 2]::text, 'NULL') || '}';
  end loop;
  return v_units;
end $function$
;
revoke execute on function ledger.units_by_item from public;

CREATE OR REPLACE FUNCTION ledger.units_send(p_units text[])
 RETURNS bytea
 LANGUAGE sql
 IMMUTABLE
AS $function$
  -- Other units of the items of a block as its hash covers them: of each item that has some its place and its pairs.
  select coalesce(string_agg(int4send(u.i::int) || array_send(u.units::int[]), '' order by u.i), '')
  from unnest(p_units) with ordinality u(units, i) where u.units is not null
$function$
;
revoke execute on function ledger.units_send from public;

CREATE OR REPLACE FUNCTION ledger.used_at(p_before timestamp with time zone, p_now timestamp with time zone)
 RETURNS timestamp with time zone
 LANGUAGE sql
 IMMUTABLE
AS $function$
  select case when p_now > p_before + interval '1 hour' then p_now else p_before end
$function$
;
revoke execute on function ledger.used_at from public;

CREATE OR REPLACE FUNCTION ledger.win_create(p_books bigint[], p_wkind smallint[], p_wsub integer[], p_wstart date[], p_wbix integer[])
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  insert into ledger.win (kind, subject, start, book_id, cap, hard, next_alert)
  select b.kind, b.subject, u.start, b.book_id, b.cap, b.hard, ledger.next_alert(b.cap, b.alerts, 0::smallint)
  from unnest(p_wkind, p_wsub, p_wstart, p_wbix) u(kind, sub, start, bix)
  join ledger.budget b on b.kind = u.kind and b.subject = u.sub and b.book_id = p_books[u.bix]
  on conflict do nothing;
end $function$
;
revoke execute on function ledger.win_create from public;

CREATE OR REPLACE FUNCTION public.analytics_drop_day(rows_until date, attempts_until date)
 RETURNS text
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
 SET "TimeZone" TO 'UTC'
 SET lock_timeout TO '100ms'
AS $function$
declare
  part text;
begin
  perform pg_advisory_xact_lock(7305118205);
  select c.relname into part from pg_inherits i join pg_class c on c.oid = i.inhrelid
   where i.inhparent in ('request_row'::regclass, 'request_attempt'::regclass) and c.relname ~ '_\d{8}$'
     and to_date(right(c.relname, 8), 'YYYYMMDD')
         < case i.inhparent when 'request_row'::regclass then rows_until else attempts_until end
   order by right(c.relname, 8), c.relname limit 1;
  if part is not null then
    execute format('drop table %I', part);
    return part;
  end if;
  delete from request_row_default where ts < rows_until::timestamptz;
  delete from request_attempt_default where call_ts < attempts_until::timestamptz;
  return null;
exception when lock_not_available then
  return null;
end $function$
;
revoke execute on function public.analytics_drop_day from public;
grant execute on function public.analytics_drop_day to svc_runtime;

CREATE OR REPLACE FUNCTION public.analytics_prepare_days(first date, last date)
 RETURNS integer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
 SET "TimeZone" TO 'UTC'
 SET lock_timeout TO '0'
AS $function$
declare
  day date := first;
  made int := 0;
begin
  perform pg_advisory_xact_lock(7305118205);
  perform set_config('lock_timeout', '100ms', true);
  while day <= last loop
    if to_regclass(format('request_row_%s', to_char(day, 'YYYYMMDD'))) is null then
      begin
        execute format('create table request_row_%s partition of request_row for values from (%L) to (%L)',
          to_char(day, 'YYYYMMDD'), day::timestamptz, (day + 1)::timestamptz);
        execute format('create table request_attempt_%s partition of request_attempt for values from (%L) to (%L)',
          to_char(day, 'YYYYMMDD'), day::timestamptz, (day + 1)::timestamptz);
        made := made + 1;
      exception
        when check_violation then null;
        when lock_not_available then return made;
      end;
    end if;
    day := day + 1;
  end loop;
  return made;
end $function$
;

CREATE OR REPLACE FUNCTION public.analytics_stored(of_org text, of_environment text, first timestamp with time zone, last timestamp with time zone, late interval)
 RETURNS SETOF request_row
 LANGUAGE sql
 STABLE
 SET enable_seqscan TO 'off'
 SET enable_indexscan TO 'off'
 SET max_parallel_workers_per_gather TO '0'
 SET search_path TO 'public', 'pg_temp'
AS $function$
  select * from request_row
   where stored_at > first and stored_at <= last and ts >= first - late
     and org_id || '' = of_org and environment = of_environment
$function$
;

CREATE OR REPLACE FUNCTION public.analytics_summarise()
 RETURNS integer
 LANGUAGE sql
 SECURITY DEFINER
 SET lock_timeout TO '100ms'
 SET search_path TO 'public', 'pg_temp'
AS $function$
  select coalesce(sum(brin_summarize_new_values(c.oid::regclass)), 0)::int
    from pg_class t
    join pg_index i on i.indrelid = t.oid
    join pg_class c on c.oid = i.indexrelid
    join pg_am a on a.oid = c.relam
   where a.amname = 'brin' and c.relkind = 'i'
     and t.relname in (select 'request_row_' || to_char(now() at time zone 'UTC' - d * interval '1 day', 'YYYYMMDD')
                         from generate_series(0, 1) as d)
$function$
;
revoke execute on function public.analytics_summarise from public;
grant execute on function public.analytics_summarise to svc_runtime;

CREATE OR REPLACE FUNCTION public.announce_byok_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  changed text := case when tg_op = 'DELETE' then old.org_id else new.org_id end;
begin
  insert into byok_change (org_id) values (changed);
  perform pg_notify('svc_byok', changed);
  return null;
end $function$
;

CREATE OR REPLACE FUNCTION public.announce_grant_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  changed_org text := case when tg_table_name = 'org' then to_jsonb(new) ->> 'id' else to_jsonb(new) ->> 'org_id' end;
  changed_key text := case when tg_table_name = 'api_key' then to_jsonb(new) ->> 'id' end;
begin
  insert into grant_change (org_id, key_id) values (changed_org, changed_key);
  perform pg_notify('svc_grant', changed_org || ' ' || coalesce(changed_key, ''));
  return null;
end $function$
;

CREATE OR REPLACE FUNCTION public.announce_policy_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  changed text := case when tg_op = 'DELETE' then old.org_id else new.org_id end;
begin
  insert into policy_change (org_id) values (changed);
  perform pg_notify('svc_policy', changed);
  return null;
end $function$
;

CREATE OR REPLACE FUNCTION public.announce_tier_change()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  insert into grant_change (org_id, key_id) select id, null from org where reseller_tier_id = new.id;
  perform pg_notify('svc_grant', id || ' ') from org where reseller_tier_id = new.id;
  return null;
end $function$
;

CREATE OR REPLACE FUNCTION public.announce_workflow()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform pg_notify('svc_workflow', '');
  return null;
end $function$
;

CREATE OR REPLACE FUNCTION public.drop_audit_days(p_before date, p_chains integer)
 RETURNS bigint
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
declare
  own_before date := least(p_before, (now() at time zone 'UTC')::date - 730);
  dropped bigint;
begin
  perform set_config('svc.erases_audit', 'on', true);
  with old as (
    select org_id, day from public.audit_chain where day < own_before
     order by day, org_id limit p_chains for update skip locked),
  entries as (
    delete from public.audit_entry e using old where e.org_id = old.org_id and e.day = old.day returning 1),
  chains as (
    delete from public.audit_chain c using old where c.org_id = old.org_id and c.day = old.day)
  select count(*) into dropped from entries;
  perform set_config('svc.erases_audit', '', true);
  return dropped;
end $function$
;
revoke execute on function public.drop_audit_days from public;
grant execute on function public.drop_audit_days to svc_runtime;

CREATE OR REPLACE FUNCTION public.erase_org_rows(of_table text, of_org text, at_most integer)
 RETURNS bigint
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
declare
  own text := case of_table
    when 'key_notice' then 'key_id in (select id from public.api_key where org_id = $1)'
    when 'people_key_no' then 'project_id in (select id from public.project where org_id = $1)'
    when 'eval_case' then 'suite_id in (select id from public.eval_suite where org_id = $1)'
    when 'eval_call' then 'run_id in (select id from public.eval_run where org_id = $1)'
    when 'eval_result' then 'run_id in (select id from public.eval_run where org_id = $1)'
    when 'staff_item' then $own$details ->> 'org_id' = $1$own$
    when 'session' then '(org_id = $1 or sso_org_id = $1)'
    else 'org_id = $1' end;
  erased bigint;
begin
  if not exists (select from org_erasure where org_id = of_org and status = 'running') then
    raise exception 'organization % is not being erased', of_org;
  end if;
  if not exists (select from public.erasable_table where name = of_table) then
    raise exception 'rows of % are not erased this way', of_table;
  end if;
  if of_table = 'audit_entry' then
    perform set_config('svc.erases_audit', 'on', true);
  end if;
  execute format('delete from public.%I where ctid = any (array(select ctid from public.%I where %s limit $2))',
                 of_table, of_table, own) using of_org, at_most;
  get diagnostics erased = row_count;
  if of_table = 'audit_entry' then
    perform set_config('svc.erases_audit', '', true);
  end if;
  return erased;
end $function$
;
revoke execute on function public.erase_org_rows from public;
grant execute on function public.erase_org_rows to svc_runtime;

CREATE OR REPLACE FUNCTION public.fence_org(fenced regclass, org_column name DEFAULT 'org_id'::name, or_none boolean DEFAULT false)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
  own text := format('%I = current_setting(''svc.org_id'', true)', org_column);
begin
  if or_none then
    own := format('(%s or %I is null)', own, org_column);
  end if;
  execute format('alter table %s enable row level security', fenced);
  execute format('create policy everybody on %s for all using (true) with check (true)', fenced);
  execute format('create policy own_org on %s as restrictive for all to svc_tenant using (%s) with check (%s)',
    fenced, own, own);
end $function$
;
revoke execute on function public.fence_org from public;

CREATE OR REPLACE FUNCTION public.legal_outstanding_since(text)
 RETURNS timestamp with time zone
 LANGUAGE sql
 STABLE
AS $function$
  select min(greatest(made.effective_at, made.published_at, org.created_at,
                      (settings.value ->> 'enforced_at')::timestamptz))
    from org
    join settings on settings.name = 'legal' and settings.value ->> 'enforced_at' is not null
    join legal_version made on made.kind in ('tos', 'dpa') and made.requires_acceptance
   where org.id = $1
     and not exists (select from legal_acceptance
                       join legal_version accepted using (kind, version)
                      where legal_acceptance.org_id = org.id and legal_acceptance.kind = made.kind
                        and accepted.effective_at >= made.effective_at)
$function$
;

CREATE OR REPLACE FUNCTION public.note_certificate_revocation()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  insert into certificate_revocation (domain, chain, not_after, next_at, directory_url)
  values (old.domain, old.chain, old.not_after, old.not_before, old.directory_url);
  return null;
end $function$
;

CREATE OR REPLACE FUNCTION public.org_keeps_one_level()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if new.parent_org_id is not null then
    perform from org where id = new.parent_org_id and kind = 'reseller' for share;
    if not found then
      raise exception 'the parent is no reseller' using errcode = '23514', constraint = 'org_parent_is_a_reseller';
    end if;
  end if;
  if tg_op = 'UPDATE' and old.kind = 'reseller' and new.kind <> 'reseller'
     and exists (select from org where parent_org_id = new.id) then
    raise exception 'the reseller has children' using errcode = '23514', constraint = 'org_with_children_is_a_reseller';
  end if;
  return new;
end $function$
;

CREATE OR REPLACE FUNCTION public.org_tier_bps(text)
 RETURNS integer
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
  select coalesce((select tier.markup_bps from org join reseller_tier tier on tier.id = org.reseller_tier_id
                    where org.id = $1), 0)
$function$
;
revoke execute on function public.org_tier_bps from public;
grant execute on function public.org_tier_bps to svc_runtime;

CREATE OR REPLACE FUNCTION public.payloads_drop_days(until date)
 RETURNS integer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
 SET "TimeZone" TO 'UTC'
 SET lock_timeout TO '0'
AS $function$
declare
  part text;
  is_empty boolean;
  dropped int := 0;
begin
  perform pg_advisory_xact_lock(7305118206);
  perform set_config('lock_timeout', '100ms', true);
  for part in
    select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent = 'request_payload'::regclass and c.relname ~ '^request_payload_\d{8}$'
       and to_date(right(c.relname, 8), 'YYYYMMDD') < until
  loop
    execute format('select not exists (select from %I)', part) into is_empty;
    continue when not is_empty;
    begin
      execute format('drop table %I', part);
    exception when lock_not_available then return dropped; -- read by something long: the next run goes on
    end;
    dropped := dropped + 1;
  end loop;
  return dropped;
end $function$
;

CREATE OR REPLACE FUNCTION public.payloads_prepare_days(first date, last date)
 RETURNS integer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
 SET "TimeZone" TO 'UTC'
 SET lock_timeout TO '0'
AS $function$
declare
  day date := first;
  made int := 0;
begin
  perform pg_advisory_xact_lock(7305118206);
  perform set_config('lock_timeout', '100ms', true);
  while day <= last loop
    if to_regclass(format('request_payload_%s', to_char(day, 'YYYYMMDD'))) is null then
      begin
        execute format('create table request_payload_%s partition of request_payload for values from (%L) to (%L)',
          to_char(day, 'YYYYMMDD'), day::timestamptz, (day + 1)::timestamptz);
        made := made + 1;
      exception
        when check_violation then null;
        when lock_not_available then return made;
      end;
    end if;
    day := day + 1;
  end loop;
  return made;
end $function$
;

CREATE OR REPLACE FUNCTION public.purge_rail_events(p_before timestamp with time zone)
 RETURNS integer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
  v_deleted int;
begin
  delete from public.rail_event where received_at < p_before and topup_id is null and payment_ref is null;
  get diagnostics v_deleted = row_count;
  return v_deleted;
end $function$
;
revoke execute on function public.purge_rail_events from public;
grant execute on function public.purge_rail_events to svc_runtime;

CREATE OR REPLACE FUNCTION public.redact_audit_entries(of_org text, entries bigint[], actors boolean[], hashes bytea[])
 RETURNS bigint
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'public', 'pg_temp'
AS $function$
declare
  redacted bigint;
begin
  if not exists (select from org_erasure where org_id = of_org and status = 'running') then
    raise exception 'organization % is not being erased', of_org;
  end if;
  perform set_config('svc.erases_audit', 'on', true);
  update audit_entry e
     set actor_display = case when r.actor then 'erased' else e.actor_display end,
         ip_prefix = case when r.actor then null else e.ip_prefix end,
         user_agent = case when r.actor then null else e.user_agent end,
         target_display = null, before = null, after = null, reason = null, redacted_hash = r.hash
    from unnest(entries, actors, hashes) as r (id, actor, hash)
   where e.id = r.id and e.org_id <> of_org;
  get diagnostics redacted = row_count;
  perform set_config('svc.erases_audit', '', true);
  return redacted;
end $function$
;
revoke execute on function public.redact_audit_entries from public;
grant execute on function public.redact_audit_entries to svc_runtime;

CREATE OR REPLACE FUNCTION public.refuse_audit_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if tg_op in ('DELETE', 'UPDATE') and current_setting('svc.erases_audit', true) = 'on'
     and current_user = (select tableowner from pg_tables where schemaname = 'public' and tablename = 'audit_entry')
  then
    return null;
  end if;
  raise exception 'the audit log is append only';
end $function$
;

CREATE OR REPLACE FUNCTION public.refuse_policy_version_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  raise exception 'a policy version never changes';
end $function$
;

CREATE OR REPLACE FUNCTION public.request_row_is_unlinked()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  of_hour timestamptz := date_trunc('hour', old.ts, 'UTC');
begin
  insert into usage_unsummed (org_id, environment, hour, changed_at)
  values (old.org_id, old.environment, of_hour, now())
  on conflict (org_id, environment, hour) do update set changed_at = excluded.changed_at;
  delete from usage_value
   where org_id = old.org_id and environment = old.environment and hour = of_hour
     and (kind, name, value) in (
       select 'user', '', old.user_hash union all select 'session', '', old.session_id
       union all select 'tag', key, tag.value from jsonb_each_text(old.tags) as tag);
  perform pg_advisory_xact_lock_shared(20260102);
  delete from usage_span as s
   using (select 'user' as kind, '' as name, old.user_hash as value union all select 'session', '', old.session_id
          union all select 'tag', key, tag.value from jsonb_each_text(old.tags) as tag) as said,
         unnest('{1,2,3,4}'::smallint[]) as of (level)
   where s.org_id = old.org_id and s.environment = old.environment and s.kind = said.kind and s.name = said.name
     and s.level = of.level and s.start = usage_span_start(of.level, of_hour) and s.value = said.value;
  return null;
end $function$
;

CREATE OR REPLACE FUNCTION public.reseller_bps(text)
 RETURNS integer
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
  select coalesce(tier.markup_bps, 0) from org left join reseller_tier tier on tier.id = org.reseller_tier_id
   where org.id = $1 and org.parent_org_id is not null
$function$
;
revoke execute on function public.reseller_bps from public;
grant execute on function public.reseller_bps to svc_runtime;

CREATE OR REPLACE FUNCTION public.reseller_tier_customers(text)
 RETURNS integer
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
  select count(*)::int from org where reseller_tier_id = $1
$function$
;
revoke execute on function public.reseller_tier_customers from public;
grant execute on function public.reseller_tier_customers to svc_runtime;

CREATE AGGREGATE public.sum_bigint(bigint) (sfunc = int8pl, stype = bigint, initcond = '0', combinefunc = int8pl, parallel = s);

CREATE OR REPLACE FUNCTION public.usage_hour_has_changed()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into usage_unsummed (org_id, environment, hour, changed_at)
  select distinct org_id, environment, hour, now() from changed order by 1, 2, 3
  on conflict (org_id, environment, hour) do update set changed_at = excluded.changed_at;
  return null;
end $function$
;

CREATE OR REPLACE FUNCTION public.usage_hour_is_new()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into usage_unsummed (org_id, environment, hour)
  select distinct org_id, environment, hour from changed order by 1, 2, 3
  on conflict (org_id, environment, hour) do update set changed_at = usage_unsummed.changed_at;
  return null;
end $function$
;

CREATE OR REPLACE FUNCTION public.usage_hour_is_summed()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  -- Who sums hours holds it already, but for an older program. For hours that are gone, as an organization is erased, nobody has to wait.
  if exists (select from summed join usage_hour using (org_id, environment, hour)) then
    perform pg_advisory_xact_lock(20260102);
  end if;
  insert into usage_unspanned (org_id, environment, level, start)
  select distinct org_id, environment, level, usage_span_start(level, hour)
    from summed cross join unnest('{1,2,3,4}'::smallint[]) as level
   order by 1, 2, 3, 4
  on conflict do nothing;
  delete from usage_spanned
   where (org_id, environment, level, start) in (
     select org_id, environment, level, usage_span_start(level, hour)
       from summed cross join unnest('{1,2,3,4}'::smallint[]) as level);
  return null;
end $function$
;

CREATE OR REPLACE FUNCTION public.usage_span_length(level smallint)
 RETURNS interval
 LANGUAGE sql
 IMMUTABLE
RETURN make_interval(hours => (6 * (((4)::double precision ^ ((level - 1))::double precision))::integer))
;

CREATE OR REPLACE FUNCTION public.usage_span_start(level smallint, at timestamp with time zone)
 RETURNS timestamp with time zone
 LANGUAGE sql
 IMMUTABLE
RETURN date_bin(make_interval(hours => (6 * (((4)::double precision ^ ((level - 1))::double precision))::integer)), at, '1970-01-01 00:00:00+00'::timestamp with time zone)
;
