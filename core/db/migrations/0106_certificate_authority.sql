-- compatible_from: 0054
-- Which authority issued a certificate, by its directory: it is that one which revokes it, also after SVC_ACME_DIRECTORY_URL has changed. An older
-- program says none, and null is taken for the authority of the settings.

alter table storefront_certificate
  add directory_url text check (char_length(directory_url) <= 2048),
  -- Of the order under way.
  add order_directory_url text check (char_length(order_directory_url) <= 2048);
alter table certificate_revocation add directory_url text check (char_length(directory_url) <= 2048);

-- Where there was one authority ever, it is known which one it was.
update storefront_certificate
   set directory_url = case when chain is not null then account.directory_url end,
       order_directory_url = case when order_url is not null then account.directory_url end
  from acme_account account
 where (select count(*) from acme_account) = 1;
update certificate_revocation set directory_url = account.directory_url
  from acme_account account
 where (select count(*) from acme_account) = 1;

create or replace function note_certificate_revocation() returns trigger language plpgsql security definer
set search_path = public, pg_temp as $$
begin
  insert into certificate_revocation (domain, chain, not_after, next_at, directory_url)
  values (old.domain, old.chain, old.not_after, old.not_before, old.directory_url);
  return null;
end $$;
