// SQL of checkpoints: what was signed, in the installation's database, and blocks as the ledgers have them. Integers of
// blocks travel as text, as the verifier reads them, so that no parser stands between the stored value and its hash.
import type { Db } from '../../kernel/index.ts';

export interface CheckpointRow {
  readonly checkpoint_no: number;
  readonly taken_at: Date;
  readonly note: string;
  readonly verifier_key: string;
}

/** How far a checkpoint went in a book. */
export interface BookHead {
  readonly book_id: number;
  readonly first_block: number;
  readonly last_block: number;
  readonly head: Buffer;
  readonly blocks_root: Buffer;
}

const LOCK = 7_305_118_211;

/**
 * Of two programs that take a checkpoint, one waits until the other's transaction has ended. Not a lock of the table: the
 * role that programs act as may not change what was signed, and so may not lock it.
 */
export async function lockCheckpoints(db: Db): Promise<void> {
  await db.query({
    name: 'ledger.lock_checkpoints',
    text: 'select pg_advisory_xact_lock($1)',
    values: [LOCK],
  });
}

/** The checkpoint that was taken last; null: none was. */
export async function newestCheckpoint(db: Db): Promise<CheckpointRow | null> {
  const { rows } = await db.query<CheckpointRow>({
    name: 'ledger.newest_checkpoint',
    text: `select checkpoint_no, taken_at, note, verifier_key from ledger_checkpoint
            order by checkpoint_no desc limit 1`,
  });
  return rows[0] ?? null;
}

/** Adds a checkpoint; its number is one above the last. */
export async function insertCheckpoint(db: Db, row: CheckpointRow): Promise<void> {
  await db.query({
    name: 'ledger.insert_checkpoint',
    text: `insert into ledger_checkpoint (checkpoint_no, taken_at, note, verifier_key) values ($1, $2, $3, $4)`,
    values: [row.checkpoint_no, row.taken_at, row.note, row.verifier_key],
  });
}

/** Adds how far a checkpoint goes in the books of a shard that have moved. */
export async function insertHeads(
  db: Db,
  of: { readonly shard: string; readonly checkpoint_no: number; readonly heads: readonly BookHead[] },
): Promise<void> {
  const { shard, checkpoint_no, heads } = of;
  await db.query({
    name: 'ledger.insert_checkpoint_heads',
    text: `insert into ledger_checkpoint_head (shard, book_id, checkpoint_no, first_block, last_block, head, blocks_root)
           select $1, u.book_id, $2, u.first_block, u.last_block, u.head, u.blocks_root
             from unnest($3::bigint[], $4::bigint[], $5::bigint[], $6::bytea[], $7::bytea[])
               u(book_id, first_block, last_block, head, blocks_root)`,
    values: [
      shard,
      checkpoint_no,
      heads.map(({ book_id }) => book_id),
      heads.map(({ first_block }) => first_block),
      heads.map(({ last_block }) => last_block),
      heads.map(({ head }) => head),
      heads.map(({ blocks_root }) => blocks_root),
    ],
  });
}

/** How far checkpoints up to `checkpoint_no` went in the books of a shard after `book_id`, in their order. */
export async function readHeads(
  db: Db,
  of: { shard: string; checkpoint_no: number; after: number; limit: number },
): Promise<BookHead[]> {
  const { rows } = await db.query<BookHead>({
    name: 'ledger.read_checkpoint_heads',
    text: `select distinct on (book_id) book_id, first_block, last_block, head, blocks_root
             from ledger_checkpoint_head
            where shard = $1 and book_id > $2 and checkpoint_no <= $3
            order by book_id, checkpoint_no desc limit $4`,
    values: [of.shard, of.after, of.checkpoint_no, of.limit],
  });
  return rows;
}

/** The first checkpoint that covers a block, and how far it went in the block's book; null: none does yet. */
export async function findCoveringHead(
  db: Db,
  of: { shard: string; book_id: number; block_no: number },
): Promise<(BookHead & CheckpointRow) | null> {
  const { rows } = await db.query<BookHead & CheckpointRow>({
    name: 'ledger.find_covering_head',
    text: `select h.book_id, h.first_block, h.last_block, h.head, h.blocks_root,
                  c.checkpoint_no, c.taken_at, c.note, c.verifier_key
             from ledger_checkpoint_head h join ledger_checkpoint c using (checkpoint_no)
            where h.shard = $1 and h.book_id = $2 and h.last_block >= $3
            order by h.checkpoint_no limit 1`,
    values: [of.shard, of.book_id, of.block_no],
  });
  return rows[0] ?? null;
}

/** Heads of the books of a ledger after `book_id`, in their order; of those that have a block. */
export async function readBooks(
  ledger: Db,
  of: { after: number; limit: number },
): Promise<{ book_id: number; block_no: number; head: Buffer }[]> {
  const { rows } = await ledger.query<{ book_id: number; block_no: number; head: Buffer }>({
    name: 'ledger.read_book_heads',
    text: `select book_id, block_no, head from ledger.book where book_id > $1 and block_no > 0
            order by book_id limit $2`,
    values: [of.after, of.limit],
  });
  return rows;
}

export interface Span {
  readonly book_id: number;
  readonly first_block: number;
  readonly last_block: number;
}

interface BlockHash {
  readonly book_id: number;
  readonly block_no: number;
  readonly hash: Buffer;
}

/** The hashes of the blocks of `spans`, by book and number. */
export async function readBlockHashes(ledger: Db, spans: readonly Span[]): Promise<BlockHash[]> {
  const { rows } = await ledger.query<BlockHash>({
    name: 'ledger.read_block_hashes',
    text: `select b.book_id, b.block_no, b.hash
             from unnest($1::bigint[], $2::bigint[], $3::bigint[]) u(book_id, first_block, last_block)
             join ledger.block b on b.book_id = u.book_id and b.block_no between u.first_block and u.last_block
            order by b.book_id, b.block_no`,
    values: [
      spans.map(({ book_id }) => book_id),
      spans.map(({ first_block }) => first_block),
      spans.map(({ last_block }) => last_block),
    ],
  });
  return rows;
}

/** The block that a call was settled in; null where this ledger has not metered it. */
export async function findBlockOfCall(
  ledger: Db,
  request_uuid: string,
): Promise<{ book_id: number; block_no: number } | null> {
  const { rows } = await ledger.query<{ book_id: number; block_no: number }>({
    name: 'ledger.find_block_of_call',
    text: 'select book_id, block_no from ledger.meter where request_id = $1',
    values: [request_uuid],
  });
  return rows[0] ?? null;
}

/** What the hash of a block begins with; integers as text. */
interface BlockOpening {
  readonly no: string;
  readonly previous_hash: string;
  readonly first_seq: string;
  /** Microseconds since 1970. */
  readonly created_at: string;
  readonly balance_before: string;
}

/** What the hash of a block begins with; the block is there. */
export async function readBlockOpening(
  ledger: Db,
  of: { book_id: number; block_no: number },
): Promise<BlockOpening> {
  const { rows } = await ledger.query<BlockOpening>({
    name: 'ledger.read_block_opening',
    text: `
      select b.block_no::text as no, b.first_seq::text, coalesce(encode(p.hash, 'hex'), repeat('0', 64)) as previous_hash,
             (extract(epoch from b.created_at) * 1000000)::bigint::text as created_at,
             coalesce((select e.balance_after from ledger.entry e
                        where e.book_id = b.book_id and e.seq = b.first_seq - 1), 0)::text as balance_before
        from ledger.block b
        left join ledger.block p on p.book_id = b.book_id and p.block_no = b.block_no - 1
       where b.book_id = $1 and b.block_no = $2`,
    values: [of.book_id, of.block_no],
  });
  return rows[0]!;
}

/** A metering record as the hash of its block covers it; integers as text. */
interface BlockCall {
  readonly request_id: string;
  readonly cost: string;
  readonly charged: string;
  /** Model, endpoint, price, seven counts of tokens, outcome and whether it is an estimate: as the hash has them. */
  readonly numbers: string[];
  readonly other_units: string[] | null;
}

/** The calls that were settled in a block, in the order of its hash. */
export async function readBlockCalls(
  ledger: Db,
  of: { book_id: number; block_no: number },
): Promise<BlockCall[]> {
  const { rows } = await ledger.query<BlockCall>({
    name: 'ledger.read_block_calls',
    text: `
      select m.request_id::text, m.cost::text, (m.cost - coalesce(w.amount, 0))::text as charged,
             array[m.model_no, m.endpoint_no, m.price_no, m.input_tokens, m.output_tokens, m.cache_read_tokens,
                   m.cache_write_tokens, m.cache_write_5m_tokens, m.cache_write_1h_tokens, m.reasoning_tokens,
                   m.outcome, m.estimated::int]::text[] as numbers,
             m.other_units::text[] as other_units
        from ledger.meter m
        left join ledger.writeoff w on w.book_id = m.book_id and w.seq = m.seq
       where m.book_id = $1 and m.block_no = $2 order by m.request_id`,
    values: [of.book_id, of.block_no],
  });
  return rows;
}
