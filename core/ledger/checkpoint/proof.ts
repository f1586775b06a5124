// The proof of one call: a file that shows, with nothing but a published checkpoint, what was metered and charged.
import { type Db, type RequestId, ServiceError, type Shards } from '../../kernel/index.ts';
import { ulidToUuid } from '../batch/encode.ts';
import { eachBlock } from './blocks.ts';
import type { Proof } from './check-proof.ts';
import { inclusionPath, leafHash } from './merkle.ts';
import { bookLeaf } from './statement.ts';
import {
  type BookHead,
  type CheckpointRow,
  findBlockOfCall,
  findCoveringHead,
  readBlockCalls,
  readBlockOpening,
  readHeads,
} from './store.ts';

const BOOKS = 2_000;

interface Found {
  readonly shard: string;
  readonly book_id: number;
  readonly block_no: number;
}

async function findCall(shards: Shards, request_id: RequestId): Promise<Found> {
  const uuid = ulidToUuid(request_id);
  for (const shard of shards.names) {
    const found = await findBlockOfCall(shards.at(shard), uuid);
    if (found !== null) return { shard, ...found };
  }
  throw new ServiceError('not_found', `No ledger has metered the call ${request_id}.`);
}

/** The siblings of the block in the tree of its book's blocks. */
async function pathInBook(ledger: Db, { block_no }: Found, head: BookHead): Promise<string[]> {
  const leaves: Buffer[] = [];
  await eachBlock(ledger, [head], ({ hash }) => leaves.push(leafHash(hash)));
  return inclusionPath(leaves, block_no - head.first_block).map((hash) => hash.toString('hex'));
}

/** The place of the book in the tree of a checkpoint. */
async function placeOfBook(
  pool: Db & { readonly shards: Shards },
  of: Found & Pick<CheckpointRow, 'checkpoint_no'>,
  limit: number,
): Promise<{ index: number; path: string[] }> {
  const leaves: Buffer[] = [];
  let index = -1;
  for (const shard of [...pool.shards.names].sort()) {
    for (let after = 0; ; ) {
      const heads = await readHeads(pool, { shard, checkpoint_no: of.checkpoint_no, after, limit });
      for (const head of heads) {
        if (shard === of.shard && head.book_id === of.book_id) index = leaves.length;
        leaves.push(bookLeaf(shard, head));
      }
      if (heads.length < limit) break;
      after = heads.at(-1)!.book_id;
    }
  }
  return { index, path: inclusionPath(leaves, index).map((hash) => hash.toString('hex')) };
}

/**
 * The proof of a call. Beside the call it has the other calls of its block, which are of the same organization.
 * Reads `limit` books at a time.
 * @throws ServiceError not_found where the call was not metered, state_conflict while no checkpoint covers it.
 */
export async function proveCall(
  pool: Db & { readonly shards: Shards },
  request_id: RequestId,
  limit = BOOKS,
): Promise<Proof> {
  const found = await findCall(pool.shards, request_id);
  const covering = await findCoveringHead(pool, found);
  if (covering === null)
    throw new ServiceError('state_conflict', 'No checkpoint covers this call yet: one is taken each day.');
  const ledger = pool.shards.at(found.shard);
  const { checkpoint_no, note, verifier_key, first_block, last_block, head } = covering;
  const { index, path } = await placeOfBook(pool, { ...found, checkpoint_no }, limit);
  return {
    format: 'svc ledger proof 1',
    request_id,
    block: { ...(await readBlockOpening(ledger, found)), calls: await readBlockCalls(ledger, found) },
    book: {
      ...{ shard: found.shard, book_id: found.book_id, first_block, last_block },
      head: head.toString('hex'),
      path: await pathInBook(ledger, found, covering),
    },
    checkpoint: { index, path, note, verifier_key },
  };
}
