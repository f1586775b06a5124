import { afterAll, expect, test } from 'vitest';
import { createTestShards } from '../../../test/support/shards.ts';
import { createPool } from '../../db/index.ts';
import { now } from '../../kernel/index.ts';
import {
  holdOf,
  journalDirectory,
  makeBook,
  openTestLedger,
  PATIENT,
  settleOf,
  subjectOf,
} from '../testing/testing.ts';
import { checkCheckpoint } from './check.ts';
import { checkProof } from './check-proof.ts';
import { proveCall } from './proof.ts';
import { checkpointSigner, takeCheckpoint } from './take.ts';

const { database_url, shards } = await createTestShards();
const pools = [shards, shards.toReversed()].map((list) =>
  createPool(database_url, { max: 4, role: 'svc_runtime', shards: list }),
);
const [pool, turned] = pools as [(typeof pools)[0], (typeof pools)[0]];
const journal = journalDirectory();
const ledgers = await Promise.all(shards.map(({ url }) => openTestLedger(url, journal.dir, PATIENT)));
afterAll(async () => {
  for (const ledger of ledgers) await ledger.close();
  for (const pool of pools) await pool.end();
  journal.remove();
});

test('a checkpoint covers the ledgers in the order of their names, however a program lists them', async () => {
  const signer = checkpointSigner(Buffer.alloc(32, 1));
  const calls = [];
  for (const [i, { name }] of shards.entries()) {
    // Of one number: they are two books all the same.
    const subject = subjectOf(await makeBook(pool.shards.at(name), { amount: 1_000, book_id: 1 }));
    const hold = holdOf(subject, 100);
    await ledgers[i]!.hold(hold);
    await ledgers[i]!.settle(settleOf(subject, hold.request_id, 60 + i));
    calls.push(hold.request_id);
  }
  const { note } = await takeCheckpoint(pool, signer, now());
  const again = await takeCheckpoint(turned, signer, now());
  expect(again.note.split('\n')[2]).toBe(note.split('\n')[2]);
  for (const one of pools) {
    expect(await checkCheckpoint(one, note, signer.verifier_key)).toMatchObject({ books: 2, findings: [] });
    for (const [i, call] of calls.entries()) {
      const proof = await proveCall(one, call, 1);
      expect(proof.book.shard).toBe(shards[i]!.name);
      expect(checkProof(proof, signer)).toMatchObject({ cost_micro_usd: 60 + i });
    }
  }
});
