import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { createTestDatabase } from '../../../test/support/database.ts';
import { createPool } from '../../db/index.ts';
import { now, type RequestId } from '../../kernel/index.ts';
import { openBook } from '../store.ts';
import {
  holdOf,
  journalDirectory,
  makeBook,
  openOwner,
  openTestLedger,
  PATIENT,
  settleOf,
  subjectOf,
  UNITS,
} from '../testing/testing.ts';
import { checkCheckpoint } from './check.ts';
import { checkProof, type Proof } from './check-proof.ts';
import { proveCall } from './proof.ts';
import { checkpointSigner, takeCheckpoint } from './take.ts';

const url = await createTestDatabase();
// As programs act: what was signed is not theirs to change.
const pool = createPool(url, { max: 10, role: 'svc_runtime' });
const owner = await openOwner(url);
const journal = journalDirectory();
const ledger = await openTestLedger(url, journal.dir, PATIENT);
afterAll(async () => {
  await ledger.close();
  await owner.end();
  await pool.end();
  journal.remove();
});

const signer = checkpointSigner(Buffer.alloc(32, 1));
const take = () => takeCheckpoint(pool, signer, now());
const check = (note: string) => checkCheckpoint(pool, note, signer.verifier_key);

/** Calls on a book, all in one turn of the batch; their request ids. */
async function callsOn(book: number, costs: readonly number[]): Promise<RequestId[]> {
  const subject = subjectOf(book);
  const holds = costs.map(() => holdOf(subject, 200));
  await Promise.all(holds.map((hold) => ledger.hold(hold)));
  await Promise.all(
    holds.map(({ request_id }, i) => {
      const settle = settleOf(subject, request_id, costs[i]!);
      return ledger.settle(i === 1 ? { ...settle, units: { ...UNITS, other: { search_units: 2 } } } : settle);
    }),
  );
  return holds.map(({ request_id }) => request_id);
}

const books = [await makeBook(pool, { amount: 9_000 }), await makeBook(pool, { amount: 400 })];
const early = await callsOn(books[0]!, [120, 0, 90]);
const first = await take();
const later = [
  ...(await callsOn(books[0]!, [10, 20])),
  ...(await callsOn(books[1]!, [150])),
  ...(await callsOn(books[1]!, [350])),
];
await openBook(pool, { book_id: 9_999, org_id: 'org_none', environment: 'live', low_mark_micro_usd: null });
const second = await take();

test('checkpoints follow each other, and the ledger is what each of them signed', async () => {
  expect([first.checkpoint_no, second.checkpoint_no]).toEqual([1, 2]);
  expect(second.note).toMatch(
    /^svc-ledger\n2\n\S{44}\ncheckpoint 2\ntaken \S+\nprevious [0-9a-f]{64}\n\n— svc-ledger /,
  );
  for (const { note, checkpoint_no } of [first, second])
    expect(await check(note)).toMatchObject({ checkpoint_no, books: 2, findings: [] });
});

test('a checkpoint in which nothing has moved signs the same tree', async () => {
  const third = await take();
  const root = (note: string) => note.split('\n')[2];
  expect(root(third.note)).toBe(root(second.note));
  expect((await check(third.note)).findings).toEqual([]);
});

test('of programs that take one at the same time each gets a number of its own', async () => {
  const taken = await Promise.all([take(), take(), take()]);
  const numbers = taken.map(({ checkpoint_no }) => checkpoint_no).sort();
  expect(numbers).toEqual([numbers[0], numbers[0]! + 1, numbers[0]! + 2]);
});

test.each([1, 2, 3])('each call is proved by the checkpoint alone, %i books read at once', async (limit) => {
  for (const [request_id, cost] of [
    [early[0]!, 120],
    [early[1]!, 0],
    [later[1]!, 20],
    [later[2]!, 150],
  ] as const) {
    const proof: unknown = JSON.parse(JSON.stringify(await proveCall(pool, request_id, limit)));
    expect(checkProof(proof, signer)).toMatchObject({
      ...{ request_id, cost_micro_usd: cost, charged_micro_usd: cost },
      checkpoint_no: early.includes(request_id) ? 1 : 2,
      input_tokens: UNITS.input_tokens,
    });
  }
});

test('what the balance did not cover is in the proof', async () => {
  const proof = await proveCall(pool, later[3]!);
  expect(checkProof(proof, signer)).toMatchObject({ cost_micro_usd: 350, charged_micro_usd: 250 });
});

test('a published checkpoint of another day does not carry a proof', async () => {
  const proof = await proveCall(pool, early[0]!);
  expect(checkProof(proof, { ...signer, published: first.note })).toMatchObject({ checkpoint_no: 1 });
  expect(() => checkProof(proof, { ...signer, published: second.note })).toThrow(
    'is not what checkpoint 2 signed',
  );
  const other = checkpointSigner(Buffer.alloc(32, 2));
  expect(() => checkProof(proof, other)).toThrow('not signed by the key');
});

test('a call after the last checkpoint has no proof yet, an unknown one never', async () => {
  const [request_id] = await callsOn(books[0]!, [5]);
  await expect(proveCall(pool, request_id!)).rejects.toThrow('No checkpoint covers this call yet');
  await take();
  expect(checkProof(await proveCall(pool, request_id!), signer)).toMatchObject({ cost_micro_usd: 5 });
  await expect(proveCall(pool, holdOf(subjectOf(books[0]!), 1).request_id)).rejects.toThrow(
    'No ledger has metered',
  );
});

/** Every place of a JSON value that is a string or a number. */
function places(value: unknown, path: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return value === null ? [] : [path];
  return Object.entries(value).flatMap(([name, inner]) => places(inner, [...path, name]));
}

test('no value of a proof can be changed without being noticed', async () => {
  const proof = await proveCall(pool, later[2]!);
  const all = places(proof).filter((path) => path.at(-1) !== 'verifier_key');
  fc.assert(
    fc.property(fc.constantFrom(...all), (path) => {
      const changed = JSON.parse(JSON.stringify(proof)) as Proof;
      const holder = path.slice(0, -1).reduce(inner, changed as unknown as Members);
      const name = path.at(-1)!;
      const before = holder[name];
      holder[name] = typeof before === 'number' ? before + 1 : changeText(String(before));
      expect(() => checkProof(changed, signer)).toThrow();
    }),
    { numRuns: all.length * 3 },
  );
});

type Members = Record<string, unknown>;
const inner = (of: Members, name: string) => of[name] as Members;

/** `text` with its last letter or figure replaced by another one. */
function changeText(text: string): string {
  const at = text.search(/[0-9a-zA-Z](?=[^0-9a-zA-Z]*$)/);
  return `${text.slice(0, at)}${text[at] === '1' ? '2' : '1'}${text.slice(at + 1)}`;
}

test.each([null, [], 'proof', {}, { format: 'svc ledger proof 1' }])('%j is no proof', (file) => {
  expect(() => checkProof(file, signer)).toThrow('this is no proof of a call');
});

test('history that was rewritten with all its hashes is found out, by the check and by the next checkpoint', async () => {
  const { note } = await take();
  // The owner of the database makes a block of a past day and all that follow from it: here the hash of the last one
  // and the head of the book, which the ledger's own chain cannot tell from the truth.
  const of = [books[1]];
  await owner.query('update ledger.block set hash = sha256(hash) where book_id = $1 and block_no = 3', of);
  await owner.query(
    `update ledger.book b set head = (select hash from ledger.block k where k.book_id = b.book_id and k.block_no = b.block_no)
      where book_id = $1`,
    of,
  );
  expect((await check(note)).findings).toEqual([
    {
      ...{ shard: 'main', book_id: books[1], check: 'checkpoint' },
      message: 'blocks 2 to 3 are not those that were signed',
    },
  ]);
  await expect(take()).rejects.toThrow(`book ${books[1]}`);
});

test('rewritten records of what was signed are found out too', async () => {
  await owner.query('delete from ledger_checkpoint_head where book_id = $1', [books[1]]);
  expect((await check(first.note)).findings).toEqual([
    {
      ...{ shard: 'main', book_id: 0, check: 'checkpoint' },
      message: expect.stringContaining('has 1 books at checkpoint 1; they are not the 2 that were signed'),
    },
  ]);
});
