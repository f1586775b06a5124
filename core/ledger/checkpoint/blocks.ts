// Reads the hashes of blocks of many books in few statements, and no more than a page of them at a time.
import type { Db } from '../../kernel/index.ts';
import { readBlockHashes, type Span } from './store.ts';

const PAGE = 20_000;

/** Parts of `spans` that together are a page of `blocks` each. */
function* pages(spans: Iterable<Span>, blocks: number): Iterable<Span[]> {
  let page: Span[] = [];
  let room = blocks;
  for (const { book_id, first_block, last_block } of spans) {
    for (let from = first_block; from <= last_block; ) {
      const to = Math.min(last_block, from + room - 1);
      page.push({ book_id, first_block: from, last_block: to });
      room -= to - from + 1;
      from = to + 1;
      if (room > 0) continue;
      yield page;
      page = [];
      room = blocks;
    }
  }
  if (page.length > 0) yield page;
}

/**
 * The hashes of the blocks of each span, in the order of `spans`, which are by book; `visit` is called for each block.
 * At most `blocks` are in memory. A block that is not there is passed over: its hash is missing.
 */
export async function eachBlock(
  ledger: Db,
  spans: readonly Span[],
  visit: (block: { book_id: number; block_no: number; hash: Buffer }) => void,
  blocks = PAGE,
): Promise<void> {
  for (const page of pages(spans, blocks))
    for (const block of await readBlockHashes(ledger, page)) visit(block);
}
