// Signs what the ledgers are at one moment, so that nobody can change what was before it without being found out, the
// operator of the database included.
import type { Db, Shards } from '../../kernel/index.ts';
import { checkpointSeed, type RootKeyRing, sha256Hex } from '../../kernel/index.ts';
import { eachBlock } from './blocks.ts';
import { GrowingTree, leafHash } from './merkle.ts';
import { type NoteSigner, noteSigner } from './note.ts';
import { bookLeaf, ORIGIN, writeStatement } from './statement.ts';
import {
  type BookHead,
  type CheckpointRow,
  insertCheckpoint,
  insertHeads,
  lockCheckpoints,
  newestCheckpoint,
  readBooks,
  readHeads,
  type Span,
} from './store.ts';

const BOOKS = 2_000;

interface CheckpointPool extends Db {
  readonly shards: Shards;
  transaction<T>(work: (db: Db) => Promise<T>): Promise<T>;
}

/** The signer of an installation's checkpoints; its key follows from the key ring and stays when the root key changes. */
export function checkpointSigner(root_key: RootKeyRing): NoteSigner {
  return noteSigner(ORIGIN, checkpointSeed(root_key));
}

/** A ledger is not what an earlier checkpoint signed, or not whole. */
class BrokenHistory extends Error {}

interface Book {
  readonly book_id: number;
  readonly block_no: number;
  readonly head: Buffer;
}

/** @throws BrokenHistory where a book that was signed, up to the number `last`, is no longer there. */
function checkAllThere(signed: readonly BookHead[], books: readonly Book[], last: number): void {
  const there = new Set(books.map(({ book_id }) => book_id));
  for (const { book_id, last_block } of signed)
    if (book_id <= last && !there.has(book_id))
      throw new BrokenHistory(`book ${book_id} is gone, which was signed up to block ${last_block}`);
}

/** How far each of `books` goes now; `before` is how far the last checkpoint went. */
async function headsOf(
  ledger: Db,
  books: readonly Book[],
  before: ReadonlyMap<number, BookHead>,
): Promise<{ all: BookHead[]; moved: BookHead[] }> {
  const moving: Span[] = [];
  for (const { book_id, block_no, head } of books) {
    const known = before.get(book_id);
    if (known === undefined) moving.push({ book_id, first_block: 1, last_block: block_no });
    else if (block_no > known.last_block) {
      // The block that was signed last is read again: that it is still the same is looked at each time.
      moving.push({ book_id, first_block: known.last_block, last_block: block_no });
    } else if (block_no < known.last_block || !head.equals(known.head)) {
      throw new BrokenHistory(
        `book ${book_id} ends at block ${block_no} and is not what was signed up to block ${known.last_block}`,
      );
    }
  }
  const trees = await treesOf(ledger, moving, before);
  const all = books.map(({ book_id, block_no, head }) => {
    const tree = trees.get(book_id);
    const known = before.get(book_id);
    if (tree === undefined) return known!;
    const first_block = (known?.last_block ?? 0) + 1;
    if (tree.size !== block_no - first_block + 1 || !tree.last.equals(head))
      throw new BrokenHistory(
        `the blocks of book ${book_id} from ${first_block} to ${block_no} are not whole`,
      );
    return { book_id, first_block, last_block: block_no, head, blocks_root: tree.root() };
  });
  return { all, moved: all.filter(({ book_id }) => trees.has(book_id)) };
}

class BlockTree extends GrowingTree {
  last: Buffer = Buffer.alloc(0);
}

async function treesOf(
  ledger: Db,
  spans: readonly Span[],
  before: ReadonlyMap<number, BookHead>,
): Promise<Map<number, BlockTree>> {
  const trees = new Map(spans.map(({ book_id }) => [book_id, new BlockTree()]));
  const signed = new Set<number>();
  await eachBlock(ledger, spans, ({ book_id, block_no, hash }) => {
    const known = before.get(book_id);
    if (block_no === known?.last_block) {
      if (hash.equals(known.head)) signed.add(book_id);
      return;
    }
    const tree = trees.get(book_id)!;
    tree.add(leafHash(hash));
    tree.last = hash;
  });
  for (const { book_id } of spans)
    if (before.has(book_id) && !signed.has(book_id))
      throw new BrokenHistory(
        `block ${before.get(book_id)!.last_block} of book ${book_id} is not the one that was signed`,
      );
  return trees;
}

/**
 * Takes a checkpoint of all ledgers now and signs it. Calls go on meanwhile: of each book the checkpoint has what it was
 * when it was looked at, and history behind that never changes. `limit` books are read at a time.
 * @throws BrokenHistory where a ledger is not what was signed before; nothing is signed then.
 */
export async function takeCheckpoint(
  pool: CheckpointPool,
  signer: NoteSigner,
  taken_at: Date,
  limit = BOOKS,
): Promise<CheckpointRow> {
  return pool.transaction(async (db) => {
    await lockCheckpoints(db);
    const last = await newestCheckpoint(db);
    const checkpoint_no = (last?.checkpoint_no ?? 0) + 1;
    const tree = new GrowingTree();
    for (const shard of [...pool.shards.names].sort()) {
      const ledger = pool.shards.at(shard);
      for (let after = 0; ; ) {
        const books = await readBooks(ledger, { after, limit });
        const signed = await readHeads(db, { shard, checkpoint_no, after, limit });
        const before = new Map(signed.map((head) => [head.book_id, head]));
        checkAllThere(signed, books, books.length < limit ? Infinity : books.at(-1)!.book_id);
        const { all, moved } = await headsOf(ledger, books, before);
        if (moved.length > 0) await insertHeads(db, { shard, checkpoint_no, heads: moved });
        for (const book of all) tree.add(bookLeaf(shard, book));
        if (books.length < limit) break;
        after = books.at(-1)!.book_id;
      }
    }
    const previous = last === null ? null : sha256Hex(last.note);
    const text = writeStatement({
      ...{ checkpoint_no, taken_at, previous },
      books: tree.size,
      root: tree.root(),
    });
    const row = { checkpoint_no, taken_at, note: signer.sign(text), verifier_key: signer.verifier_key };
    await insertCheckpoint(db, row);
    return row;
  });
}

/** A day has its checkpoint from this time of the day on (UTC): late enough for calls that began the day before. */
const MINUTES_PAST_MIDNIGHT = 5;

/** Takes the checkpoint of the day if it has none; 1 when one was taken. A job. */
export async function takeDailyCheckpoint(
  pool: CheckpointPool,
  signer: NoteSigner,
  at: Date,
): Promise<number> {
  const due = new Date(at);
  due.setUTCHours(0, MINUTES_PAST_MIDNIGHT, 0, 0);
  if (at < due) return 0;
  const last = await newestCheckpoint(pool);
  if (last !== null && last.taken_at >= due) return 0;
  await takeCheckpoint(pool, signer, at);
  return 1;
}
