-- compatible_from: 0005
-- Organisations and their projects.

-- Numbers of the ledger's books, over all its shards.
create sequence book_no;
create table org (
  id text primary key check (id ~ '^org_[0-9A-HJKMNP-TV-Z]{26}$'),
  slug text not null check (slug ~ '^[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?$'),
  name text not null check (char_length(name) between 1 and 120),
  kind text not null default 'team' check (kind in ('team', 'personal', 'reseller', 'child')),
  status text not null default 'active' check (status in ('active', 'suspended', 'closed')),
  plan_id text not null default 'payg' check (plan_id in ('payg', 'team', 'scale', 'enterprise')),
  billing_country text not null check (billing_country ~ '^[A-Z]{2}$'),
  billing_currency text not null check (billing_currency ~ '^[A-Z]{3}$'),
  legal_name text,
  gstin text,
  tax_status text not null default 'unregistered'
    check (tax_status in ('gst_registered', 'unregistered', 'sez', 'overseas')),
  billing_email text,
  billing_address jsonb,
  settings jsonb not null default '{}',
  data_policy jsonb not null,
  -- Plain: it hides the callers' end-user ids from providers, not from a reader of this database.
  pepper bytea not null check (octet_length(pepper) = 32),
  -- Where its books are: a name of the configuration, `main` for the ledger in this database.
  shard text not null default 'main' check (shard ~ '^[a-z][a-z0-9_]{0,39}$'),
  live_book_id bigint not null unique default nextval('book_no'),
  sandbox_book_id bigint not null unique default nextval('book_no'),
  parent_org_id text references org,
  reseller_tier_id text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  closed_at timestamptz,
  -- When logging was last switched off: what was stored until then goes, also where it is on again since.
  logging_off_at timestamptz,
  constraint org_slug_once unique (slug),
  constraint org_closed_at_iff_closed check ((status = 'closed') = (closed_at is not null))
);

create sequence project_no as int;
create table project (
  id text primary key check (id ~ '^prj_[0-9A-HJKMNP-TV-Z]{26}$'),
  -- Two numbers, because a budget of the ledger belongs to one book: calls of live keys count under the first,
  -- calls of test keys (which a live project may hold too) under the second.
  live_no int not null unique default nextval('project_no'),
  sandbox_no int not null unique default nextval('project_no'),
  org_id text not null references org,
  slug text not null check (slug ~ '^[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?$'),
  name text not null check (char_length(name) between 1 and 120),
  environment text not null check (environment in ('live', 'test')),
  status text not null default 'active' check (status in ('active', 'archived')),
  budget_monthly_micro bigint check (budget_monthly_micro >= 0),
  budget_hard boolean not null default true,
  alerts int[] not null default '{50,80,100}',
  created_at timestamptz not null,
  updated_at timestamptz not null
);
-- An archived project's slug is free again.
create unique index project_slug_once on project (org_id, slug) where status = 'active';

-- Refills of a sandbox book per UTC day.
create table sandbox_refill (
  org_id text not null references org,
  day date not null,
  refills int not null check (refills between 1 and 10),
  primary key (org_id, day)
);
