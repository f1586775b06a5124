// What a checkpoint says, as text: that of C2SP tlog-checkpoint, with lines of ours behind it. A leaf of its tree is a
// book: how far the checkpoint goes in it, the hash of its last block, and a tree over the blocks that came since the
// checkpoint in which the book had moved before.
import { leafHash } from './merkle.ts';
import type { BookHead } from './store.ts';

/** The name of the log and of the key that signs it. */
export const ORIGIN = 'svc-ledger';

export interface Statement {
  readonly checkpoint_no: number;
  readonly taken_at: Date;
  readonly books: number;
  readonly root: Buffer;
  /** SHA-256 of the note of the checkpoint before, in hex; null: there was none. */
  readonly previous: string | null;
}

/** The text that is signed. */
export function writeStatement({ checkpoint_no, taken_at, books, root, previous }: Statement): string {
  const lines = [
    ORIGIN,
    books,
    root.toString('base64'),
    `checkpoint ${checkpoint_no}`,
    `taken ${taken_at.toISOString()}`,
    `previous ${previous ?? 'none'}`,
  ];
  return `${lines.join('\n')}\n`;
}

const FORM = new RegExp(
  `^${ORIGIN}\\n(\\d{1,15})\\n([A-Za-z0-9+/]{43}=)\\n` +
    'checkpoint (\\d{1,15})\\ntaken (\\S{24})\\nprevious ([0-9a-f]{64}|none)\\n$',
);

/** @throws Error where `text` is no statement of a checkpoint. */
export function readStatement(text: string): Statement {
  const found = FORM.exec(text);
  if (found === null) throw new Error('the signed text is no checkpoint of a ledger');
  const [, books, root, no, taken_at, previous] = found as unknown as string[];
  return {
    checkpoint_no: Number(no),
    taken_at: new Date(taken_at!),
    books: Number(books),
    root: Buffer.from(root!, 'base64'),
    previous: previous === 'none' ? null : previous!,
  };
}

/** The leaf of a book. */
export function bookLeaf(shard: string, book: BookHead): Buffer {
  const { book_id, first_block, last_block, head, blocks_root } = book;
  const content = [
    shard,
    book_id,
    first_block,
    last_block,
    head.toString('hex'),
    blocks_root.toString('hex'),
  ];
  return leafHash(Buffer.from(content.join(' ')));
}
