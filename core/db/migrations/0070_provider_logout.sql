-- compatible_from: 0054
-- Whom a provider signed in, and in which session of its own, as hashes: what a sign-out over there ends here. Sessions that began
-- before have neither and end as they did. An older program leaves both empty.
alter table session
  add column sso_subject bytea check (octet_length(sso_subject) = 32),
  add column sso_sid bytea check (octet_length(sso_sid) = 32),
  add constraint session_of_subject check (sso_subject is null or sso_org_id is not null),
  add constraint session_of_sid check (sso_sid is null or sso_subject is not null);
