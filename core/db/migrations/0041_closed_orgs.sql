-- compatible_from: 0019
-- Organizations that were closed, to be found by when: their mandates are cancelled.

create index org_closed on org (closed_at) where closed_at is not null;
