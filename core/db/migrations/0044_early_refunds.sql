-- compatible_from: 0019
-- A rail may report a refund before the payment that it gives back: it is kept under the payment until that is booked.
alter table rail_refund alter column topup_id drop not null;
alter table rail_refund add column payment_ref text;
create index rail_refund_early on rail_refund (rail, payment_ref) where topup_id is null;
