-- compatible_from: 0019
-- Credit notes: one per refund, of a document that is none itself, with an id of their own.
alter table invoice
  add constraint invoice_id_says_credit_note check ((kind = 'credit_note') = (id ~ '^cn_'));
-- A refund is documented once, however often its last step is repeated.
create unique index invoice_refund_once on invoice (refund_id) where refund_id is not null;
-- The credit notes of a document are added up before another is issued.
create index invoice_credit_notes on invoice (original_invoice_id) where original_invoice_id is not null;
-- The rail's reference of the payment, or of the refund, as documents print it.
alter table invoice add column payment_ref text;
