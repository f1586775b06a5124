-- compatible_from: 0054
-- The pepper of an organization, sealed under the key ring. `svcctl keyring rotate` seals what an earlier release wrote and
-- empties `pepper`; programs of that release can then not read it, so it is run once all are of this one.
alter table org add column pepper_sealed bytea;
alter table org alter column pepper drop not null;
alter table org add constraint org_has_a_pepper check ((pepper is null) <> (pepper_sealed is null));
-- Under which root key a hash was made; null: by a release that did not say so.
alter table gift add column hash_key_id bytea;
alter table redeem_code add column hash_key_id bytea;
alter table invite_code add column hash_key_id bytea;
alter table recovery_code add column hash_key_id bytea;
