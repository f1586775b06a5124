// Compares the ledgers with a checkpoint: whether all blocks that it covers are still those that were signed.
import type { Db, Shards } from '../../kernel/index.ts';
import { eachBlock } from './blocks.ts';
import { GrowingTree, leafHash } from './merkle.ts';
import { openNote } from './note.ts';
import { bookLeaf, readStatement } from './statement.ts';
import { type BookHead, readHeads, type Span } from './store.ts';

const BOOKS = 2_000;

interface CheckpointFinding {
  readonly shard: string;
  /** 0: of no book alone. */
  readonly book_id: number;
  readonly check: 'checkpoint';
  readonly message: string;
}

interface CheckpointReport {
  readonly checkpoint_no: number;
  readonly taken_at: Date;
  readonly books: number;
  readonly findings: readonly CheckpointFinding[];
}

/** The tree over the blocks of each span as they are now, and their last hash. */
async function rebuild(ledger: Db, spans: readonly Span[]): Promise<Map<number, BookHead>> {
  const trees = new Map<number, Span & { tree: GrowingTree; head: Buffer }>(
    spans.map((span) => [span.book_id, { ...span, tree: new GrowingTree(), head: Buffer.alloc(32) }]),
  );
  await eachBlock(ledger, spans, ({ book_id, hash }) => {
    const book = trees.get(book_id)!;
    book.tree.add(leafHash(hash));
    book.head = hash;
  });
  return new Map(
    [...trees].map(([book_id, { tree, head, first_block, last_block }]) => [
      book_id,
      { book_id, first_block, last_block, head, blocks_root: tree.root() },
    ]),
  );
}

/**
 * Whether the ledgers still hold what `note` signed; `verifier_key` is the installation's, kept apart from it. That the
 * hash of a block is the hash of its content is not looked at here (`verifyLedger`). Reads `limit` books at a time.
 * @throws Error where the note is not signed by that key, or is no checkpoint.
 */
export async function checkCheckpoint(
  pool: Db & { readonly shards: Shards },
  note: string,
  verifier_key: string,
  limit = BOOKS,
): Promise<CheckpointReport> {
  const { checkpoint_no, taken_at, books, root } = readStatement(openNote(note, verifier_key));
  const tree = new GrowingTree();
  const findings: CheckpointFinding[] = [];
  const report = (shard: string, book_id: number, message: string) =>
    findings.push({ shard, book_id, check: 'checkpoint', message });
  for (const shard of [...pool.shards.names].sort()) {
    for (let after = 0; ; ) {
      const heads = await readHeads(pool, { shard, checkpoint_no, after, limit });
      const now = await rebuild(pool.shards.at(shard), heads);
      for (const signed of heads) {
        const found = now.get(signed.book_id)!;
        const leaf = bookLeaf(shard, found);
        tree.add(leaf);
        if (leaf.equals(bookLeaf(shard, signed))) continue;
        const { first_block, last_block, book_id } = signed;
        report(shard, book_id, `blocks ${first_block} to ${last_block} are not those that were signed`);
      }
      if (heads.length < limit) break;
      after = heads.at(-1)!.book_id;
    }
  }
  if (findings.length === 0 && !(tree.size === books && tree.root().equals(root)))
    report(
      'main',
      0,
      `the ledger has ${tree.size} books at checkpoint ${checkpoint_no}; they are not the ${books} that were signed`,
    );
  return { checkpoint_no, taken_at, books, findings };
}
