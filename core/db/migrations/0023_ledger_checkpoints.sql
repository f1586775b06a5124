-- compatible_from: 0019
-- Checkpoints of the ledgers: what was signed, and up to which block of each book.

create table ledger_checkpoint (
  checkpoint_no bigint primary key check (checkpoint_no > 0),
  taken_at timestamptz not null,
  -- The text with its signature, as it is published.
  note text not null,
  verifier_key text not null
);

-- A row for each book that had moved since the checkpoint before; others stand as their last row says.
create table ledger_checkpoint_head (
  shard text not null,
  book_id bigint not null,
  checkpoint_no bigint not null references ledger_checkpoint deferrable initially deferred,
  first_block bigint not null check (first_block > 0),
  last_block bigint not null,
  -- Hash of the last block.
  head bytea not null check (octet_length(head) = 32),
  -- Tree hash over the hashes of the blocks from the first to the last.
  blocks_root bytea not null check (octet_length(blocks_root) = 32),
  primary key (shard, book_id, checkpoint_no),
  check (last_block >= first_block)
);

revoke update, delete, truncate on ledger_checkpoint, ledger_checkpoint_head from svc_runtime;
