-- compatible_from: 0054
-- Tickets from before tickets kept the number of their document get it: people call a document by nothing else.
update ticket t set body = t.body || jsonb_build_object('invoice_number', i.number)
  from invoice i
 where t.body->>'invoice_id' = i.id and not t.body ? 'invoice_number';
update ticket t set body = t.body || jsonb_build_object('invoice_number', i.number)
  from topup u join invoice i on i.id = u.invoice_id
 where t.body->>'topup_id' = u.id and not t.body ? 'invoice_number';
