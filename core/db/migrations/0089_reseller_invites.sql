-- compatible_from: 0054
-- Invite codes of resellers: who makes an organization with one becomes a customer.
alter table invite_code add column reseller_id text references org (id);
create index invite_code_of_reseller on invite_code (reseller_id, created_at desc, id desc) where reseller_id is not null;
