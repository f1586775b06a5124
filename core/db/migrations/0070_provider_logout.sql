-- compatible_from: 0054
-- Whom a provider signed in, and in which session of its own, as hashes: what a sign-out over there ends here. Sessions that began
-- before have neither and end as they did. An older program leaves both empty.
alter table session
  add column sso_subject_hash bytea check (octet_length(sso_subject_hash) = 32),
  add column sso_sid_hash bytea check (octet_length(sso_sid_hash) = 32),
  add constraint session_of_subject check (sso_subject_hash is null or sso_org_id is not null),
  add constraint session_of_sid check (sso_sid_hash is null or sso_subject_hash is not null);
