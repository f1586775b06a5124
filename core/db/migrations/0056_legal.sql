-- compatible_from: 0054
-- Legal documents in versions, who accepted which and what its text was, and the list of sub-processors.

create table legal_version (
  kind text not null check (kind in ('tos', 'dpa', 'privacy', 'aup', 'dpdp_notice', 'sccs')),
  version text not null check (version ~ '^\d{4}-\d{2}-\d{2}(\.\d{1,2})?$'),
  title text not null check (char_length(title) between 1 and 120),
  summary text not null check (char_length(summary) between 1 and 500),
  requires_acceptance boolean not null,
  -- Markdown, with placeholders.
  text text not null check (char_length(text) between 1 and 200000),
  effective_at timestamptz not null,
  published_at timestamptz not null,
  -- Who of staff; `release` for what a release brought.
  published_by text not null,
  -- The organization up to which people have been told, in the order of ids; null: nobody is to be told any more.
  announced_through text,
  primary key (kind, version),
  -- So that the newest version is never a matter of taste.
  constraint legal_version_one_at_a_time unique (kind, effective_at)
);

-- What was shown when somebody accepted, once per text.
create table legal_text (
  sha256 bytea primary key check (octet_length(sha256) = 32),
  text text not null
);

create table legal_acceptance (
  legal_acceptance_id bigint generated always as identity primary key,
  org_id text not null references org,
  -- The person, or the key where a service key did it.
  user_id text,
  user_email text,
  key_id text,
  kind text not null,
  version text not null,
  accepted_at timestamptz not null,
  -- The whole address: evidence, which a prefix is not.
  ip text,
  method text not null check (method in ('click_through', 'api')),
  signer_name text,
  signer_title text,
  text_sha256 bytea not null references legal_text,
  foreign key (kind, version) references legal_version,
  constraint legal_acceptance_once unique (org_id, kind, version)
);

create table subprocessor_list (
  version text primary key check (version ~ '^\d{4}-\d{2}-\d{2}(\.\d{1,2})?$'),
  entries jsonb not null,
  change jsonb not null,
  notice_days int not null check (notice_days between 0 and 365),
  published_at timestamptz not null,
  effective_at timestamptz not null,
  published_by text not null,
  announced_through text,
  constraint subprocessor_list_one_at_a_time unique (effective_at)
);

-- What was published and accepted is evidence.
revoke update, delete, truncate on legal_version, subprocessor_list, legal_text, legal_acceptance from svc_runtime;
grant update (announced_through) on legal_version, subprocessor_list to svc_runtime;

-- Since when an organization owes an acceptance that has effects, or will owe one; null: it owes none. What it accepted last
-- covers everything before. Nobody owes before there was something to accept for them: before the organization was
-- made, before the version was published here, or before the installation began to insist (setting `legal`).
create function legal_outstanding_since(text) returns timestamptz language sql stable as $$
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
$$;

-- Keys in the memory of processes know until when they may make calls.
create trigger legal_acceptance_announces after insert on legal_acceptance
  for each row execute function announce_grant_change();
