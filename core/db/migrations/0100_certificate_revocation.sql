-- compatible_from: 0054
-- Certificates of domains that were given up: whoever comes to such a domain next should not have to share it with one of ours.

-- What is still to be revoked at the authority (RFC 8555, 7.6). Of no organization: the one that had the domain may be erased meanwhile.
create table certificate_revocation (
  revocation_no bigint generated always as identity primary key,
  domain text not null,
  chain text not null check (char_length(chain) <= 65536),
  -- A certificate that has lapsed needs no revocation.
  not_after timestamptz not null,
  -- Who works on it, by the clock of the database.
  leased_by text,
  leased_until timestamptz,
  next_at timestamptz not null,
  failures int not null default 0 check (failures >= 0)
);
create index certificate_revocation_due on certificate_revocation (next_at);

-- Every way in which a domain is given up deletes the row of its certificate: by its reseller, after three days without the record,
-- with the organization. It is due at once: no certificate is older than it is valid. A definer's function, because what an
-- organization deletes is noted outside its fence.
create function note_certificate_revocation() returns trigger language plpgsql security definer
set search_path = public, pg_temp as $$
begin
  insert into certificate_revocation (domain, chain, not_after, next_at)
  values (old.domain, old.chain, old.not_after, old.not_before);
  return null;
end $$;
create trigger storefront_certificate_is_revoked after delete on storefront_certificate
  for each row when (old.chain is not null) execute function note_certificate_revocation();
