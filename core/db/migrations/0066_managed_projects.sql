-- compatible_from: 0054
-- The Kubernetes object that keeps a project, as policies and keys have theirs.
alter table project add column managed_by text check (char_length(managed_by) between 1 and 512);
-- The operator asks for the keys of one object.
create index api_key_managed on api_key (org_id, managed_by, created_at desc) where managed_by is not null;
