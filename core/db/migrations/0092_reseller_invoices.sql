-- compatible_from: 0054
-- Documents of a reseller, newest first; those of the platform are not walked.
create index invoice_supplied on invoice (supplier_id, issued_at desc, id desc) where supplier_id <> 'platform';
