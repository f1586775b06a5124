-- compatible_from: 0054
-- Acts of staff that wait for a second person. An older program asks nobody and refuses them.
create table approval (
  id text primary key check (id like 'apr\_%'),
  action text not null,
  -- What the act is carried out with; amounts, ids and words of staff, no secret.
  input jsonb not null,
  input_hash bytea not null check (octet_length(input_hash) = 32),
  org_id text references org (id),
  amount_micro_usd bigint not null check (amount_micro_usd > 0),
  reason text not null,
  status text not null check (status in ('pending', 'approved', 'refused', 'withdrawn')),
  asked_by text not null references staff (id),
  asked_at timestamptz not null,
  expires_at timestamptz not null check (expires_at > asked_at),
  decided_by text references staff (id),
  decided_at timestamptz,
  note text,
  constraint approval_decided check (
    (status = 'pending') = (decided_by is null) and (status = 'pending') = (decided_at is null)),
  -- Whoever asks for an act does not approve it.
  constraint approval_by_another check (status <> 'approved' or decided_by <> asked_by),
  constraint approval_withdrawn_by_asker check (status <> 'withdrawn' or decided_by = asked_by)
);
create unique index approval_asked_once on approval (action, input_hash) where status = 'pending';
create index approval_newest on approval (asked_at desc, id desc);
select fence_org('approval');
