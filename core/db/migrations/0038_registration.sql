-- compatible_from: 0019
-- A registered document has all of its registration, and no two documents have one number of the portal.
alter table invoice
  add constraint invoice_registered_has_everything check (
    irn_status <> 'generated'
    or (irn ~ '^[0-9a-f]{64}$' and irn_qr <> '' and ack_no <> '' and ack_at is not null)) not valid;
alter table invoice validate constraint invoice_registered_has_everything;
create unique index invoice_irn_once on invoice (irn) where irn is not null;
-- What waits for the portal.
create index invoice_unregistered on invoice (issued_at) where irn_status = 'pending';
