-- compatible_from: 0008
-- The runtime role reads, and writes through the functions alone (they run with the owner's rights); tables that
-- carry no money are open to it. History (entry, block, meter, burn, writeoff) can be changed by nobody but the owner.
revoke all on all functions in schema ledger from public;
grant usage on schema ledger to svc_runtime;
grant select on all tables in schema ledger to svc_runtime;
grant insert, update, delete on ledger.lease, ledger.idempotency to svc_runtime;
-- Who takes facts away locks them first.
grant update, delete on ledger.outbox to svc_runtime;
grant execute on function ledger.ulid_day, ledger.hold, ledger.settle, ledger.release, ledger.extend, ledger.sweep,
  ledger.open_book, ledger.set_low_mark, ledger.credit, ledger.debit, ledger.expire_lot, ledger.set_budget,
  ledger.resume, ledger.make_meter_partitions to svc_runtime;
