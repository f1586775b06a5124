-- compatible_from: 0054
-- Erasure and export of end users, of whom only a keyed hash was ever stored.
create table data_subject_request (
  id text primary key check (id ~ '^dsr_[0-9A-HJKMNP-TV-Z]{26}$'),
  org_id text not null references org (id),
  kind text not null check (kind in ('erasure', 'export')),
  subject_hash text not null check (subject_hash ~ '^[0-9a-f]{64}$'),
  status text not null check (status in ('received', 'running', 'completed', 'failed')),
  -- Request rows that were touched.
  records bigint not null default 0 check (records >= 0),
  payloads_deleted bigint not null default 0 check (payloads_deleted >= 0),
  -- Of an erasure: SHA-256 over the sorted ids of these rows, each with a line feed behind it.
  digest text check (digest ~ '^[0-9a-f]{64}$'),
  created_at timestamptz not null,
  completed_at timestamptz,
  constraint data_subject_request_completed check ((status = 'completed') = (completed_at is not null)),
  constraint data_subject_request_digest check ((digest is not null) = (status = 'completed' and kind = 'erasure'))
);
create index data_subject_request_walk on data_subject_request (org_id, created_at desc, id desc);

-- The calls of an erasure under way, for its digest; they go when the receipt is written, and with them the last link.
create table erased_call (
  dsr_id text not null references data_subject_request (id) on delete cascade,
  request_id text collate "C" not null,
  primary key (dsr_id, request_id)
);

-- Rows of calls begun until `erased_at` that arrive late are unlinked as well, until `expires_at`.
create table erasure_tombstone (
  org_id text not null references org (id),
  subject_hash text not null,
  erased_at timestamptz not null,
  expires_at timestamptz not null,
  primary key (org_id, subject_hash)
);

-- Calls that were unlinked while their content may still have been on its way; without the subject.
create table erased_content (
  request_id text primary key,
  expires_at timestamptz not null
);

-- Only rows that name a subject are in it.
create index request_row_user on request_row (org_id, user_hash, ts desc, request_id desc) where user_hash <> '';
