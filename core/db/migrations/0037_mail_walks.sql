-- compatible_from: 0019
-- What staff look mails up by: whom they are about, and what.
create index mail_of_org on mail (org_id, created_at desc, id desc);
create index mail_of_reference on mail (reference);
