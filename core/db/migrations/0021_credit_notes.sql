-- compatible_from: 0019
-- Credit notes: one per refund, of a document that is none itself, with an id of their own. What documents print beside,
-- and their files.
alter table invoice
  add constraint invoice_id_says_credit_note check ((kind = 'credit_note') = (id ~ '^cn_'));
-- A refund is documented once, however often its last step is repeated.
create unique index invoice_refund_once on invoice (refund_id) where refund_id is not null;
-- The credit notes of a document are added up before another is issued.
create index invoice_credit_notes on invoice (original_invoice_id) where original_invoice_id is not null;
-- The rail's reference of the payment, or of the refund, as documents print it.
alter table invoice add column payment_ref text;

-- What a document looks like, kept as it was first sent out: a later release that draws otherwise changes nothing that
-- somebody has received. A document has a second file when its registration (IRN) came after the first.
create table invoice_file (
  invoice_id text not null references invoice,
  registered boolean not null,
  sha256 text not null check (sha256 ~ '^[0-9a-f]{64}$'),
  pdf bytea not null,
  made_at timestamptz not null,
  primary key (invoice_id, registered)
);
revoke update, delete, truncate on invoice_file from svc_runtime;
-- Rupees for one unit of the document's currency on its day; null where that currency is the rupee.
alter table invoice add column inr_rate numeric(20, 8) check (inr_rate > 0);
-- What an accountant files of a month is read by time.
create index invoice_by_time on invoice (supplier_id, issued_at);
