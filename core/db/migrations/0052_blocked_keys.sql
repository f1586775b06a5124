-- compatible_from: 0052
-- Keys of people who have left are blocked until they come back. Programs that know nothing of `blocked_at` would let such a
-- key work.
alter table api_key add column blocked_at timestamptz;
create index api_key_of_person on api_key (org_id, created_by) where created_by is not null and status <> 'revoked';

drop trigger api_key_announces on api_key;
create trigger api_key_announces after insert or update of
  status, scopes, rpm, tpm, concurrency, expires_at, svc_version, data_policy, hash, blocked_at on api_key
  for each row execute function announce_grant_change();
