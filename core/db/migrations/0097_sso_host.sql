-- compatible_from: 0054
-- Providers of a customer of a reseller may be given the addresses of its storefront. A program that knows nothing of `host` begins
-- a sign-in with ours, which such a provider refuses.

-- Null: the provider was given the address of this installation.
alter table sso_connection add host text check (host <> '' and char_length(host) <= 253);
