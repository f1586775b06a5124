// Checks the proof of a call, by arithmetic and the signature alone: no database, no network.
import { type Static, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import type { RequestId } from '../../kernel/index.ts';
import { uuidToUlid } from '../batch/encode.ts';
import { settleHash } from '../verify/hash.ts';
import { leafHash, rootOfPath } from './merkle.ts';
import { openNote } from './note.ts';
import { bookLeaf, readStatement } from './statement.ts';

const Hash = Type.String({ pattern: '^[0-9a-f]{64}$' });
const Int = Type.String({ pattern: '^-?\\d{1,19}$' });
const Place = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
const Path = Type.Array(Hash, { maxItems: 64 });

const ProofFile = Type.Object({
  format: Type.Literal('svc ledger proof 1'),
  request_id: Type.String(),
  /** The block that the call was settled in; integers as text, because JSON's are not exact. */
  block: Type.Object({
    no: Int,
    previous_hash: Hash,
    first_seq: Int,
    created_at: Int,
    balance_before: Int,
    calls: Type.Array(
      Type.Object({
        request_id: Type.String({ pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' }),
        cost: Int,
        charged: Int,
        numbers: Type.Array(Int, { minItems: 12, maxItems: 12 }),
        other_units: Type.Union([Type.Array(Int), Type.Null()]),
      }),
    ),
  }),
  /** How far the checkpoint went in the call's book, and the way from the block to there. */
  book: Type.Object({
    shard: Type.String(),
    book_id: Place,
    first_block: Place,
    last_block: Place,
    head: Hash,
    path: Path,
  }),
  /** The way from the book to what was signed. */
  checkpoint: Type.Object({ index: Place, path: Path, note: Type.String(), verifier_key: Type.String() }),
});
export type Proof = Static<typeof ProofFile>;
const form = Compile(ProofFile);

/** What a proof shows. */
export interface Proven {
  readonly request_id: RequestId;
  readonly cost_micro_usd: number;
  /** Less than the cost where the balance did not cover it. */
  readonly charged_micro_usd: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly settled_at: Date;
  readonly checkpoint_no: number;
  readonly taken_at: Date;
}

/** The hash of the block, from its content alone. @throws RangeError on integers that no ledger has. */
function blockHash({ block, book }: Proof): Buffer {
  const { calls } = block;
  const hash = settleHash({
    head: block.previous_hash,
    book: String(book.book_id),
    no: BigInt(block.no),
    first: BigInt(block.first_seq),
    at: BigInt(block.created_at),
    before: BigInt(block.balance_before),
    charges: calls.map(({ charged }) => BigInt(charged)),
    // The columns of a metering record as the verifier reads them.
    meters: calls.map(({ request_id, cost, numbers, other_units }) => [
      ...[null, null, request_id, null, cost, null, null],
      ...numbers,
      other_units === null ? null : `{${other_units.join(',')}}`,
    ]),
  });
  return Buffer.from(hash, 'hex');
}

const fromHex = (hashes: readonly string[]) => hashes.map((hash) => Buffer.from(hash, 'hex'));

/**
 * What `proof` shows about its call. The checkpoint is the proof's own, or `published`, one that was kept apart.
 * @throws Error that says which step does not hold.
 */
export function checkProof(
  proof: unknown,
  { verifier_key, published }: { readonly verifier_key: string; readonly published?: string },
): Proven {
  if (!form.Check(proof))
    throw new Error('this is no proof of a call: its form is not that of `svcctl ledger prove`');
  const { block, book, checkpoint } = proof;
  const call = block.calls.find(({ request_id }) => uuidToUlid(request_id) === proof.request_id);
  if (call === undefined) throw new Error(`the block does not have the call ${proof.request_id}`);
  const blocks_root = rootOfPath({
    leaf: leafHash(blockHash(proof)),
    index: Number(block.no) - book.first_block,
    size: book.last_block - book.first_block + 1,
    path: fromHex(book.path),
  });
  if (blocks_root === null) throw new Error(`block ${block.no} has no place among the blocks of its book`);
  const { books, root, checkpoint_no, taken_at } = readStatement(
    openNote(published ?? checkpoint.note, verifier_key),
  );
  const reached = rootOfPath({
    leaf: bookLeaf(book.shard, { ...book, head: Buffer.from(book.head, 'hex'), blocks_root }),
    index: checkpoint.index,
    size: books,
    path: fromHex(checkpoint.path),
  });
  if (reached === null || !reached.equals(root))
    throw new Error(`the content of the proof is not what checkpoint ${checkpoint_no} signed`);
  const [, , , input_tokens, output_tokens] = call.numbers.map(Number) as number[];
  return {
    request_id: proof.request_id as RequestId,
    cost_micro_usd: Number(call.cost),
    charged_micro_usd: Number(call.charged),
    ...{ input_tokens: input_tokens!, output_tokens: output_tokens! },
    settled_at: new Date(Number(BigInt(block.created_at) / 1_000n)),
    ...{ checkpoint_no, taken_at },
  };
}
