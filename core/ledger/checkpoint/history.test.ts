// Ledgers that are not what was signed: no checkpoint is taken over them. And how far a checkpoint reads at a time.
import { afterAll, expect, test } from 'vitest';
import { createTestDatabase } from '../../../test/support/database.ts';
import { createPool } from '../../db/index.ts';
import { type Db, now } from '../../kernel/index.ts';
import { makeBook, openOwner, topUp } from '../testing/testing.ts';
import { eachBlock } from './blocks.ts';
import { checkCheckpoint } from './check.ts';
import { readHeads } from './store.ts';
import { checkpointSigner, takeCheckpoint } from './take.ts';

const url = await createTestDatabase();
const pool = createPool(url, { max: 4, role: 'svc_runtime' });
const owner = await openOwner(url);
afterAll(async () => {
  await owner.end();
  await pool.end();
});

const signer = checkpointSigner(Buffer.alloc(32, 1));
const take = (limit?: number) => takeCheckpoint(pool, signer, now(), limit);
const check = (note: string, limit?: number) => checkCheckpoint(pool, note, signer.verifier_key, limit);

/** Three books of three blocks each; between their numbers there is room for others. */
const books: number[] = [];
for (const book_id of [10, 20, 30]) {
  const book = await makeBook(pool, { amount: 10, book_id });
  for (const amount of [20, 30]) await topUp(pool, book, amount);
  books.push(book);
}
const signed = await take();
const [book] = books as [number];

const COPIES = ['book', 'block'].map((table) => `kept_${table}`);
await owner.query(`create temp table kept_book as select * from ledger.book with no data`);
await owner.query(`create temp table kept_block as select * from ledger.block with no data`);

/** Does `work` while the first book is as `change` makes it, and puts it back as it was. */
async function whileChanged<T>(change: string, work: () => Promise<T>): Promise<T> {
  for (const copy of COPIES) {
    await owner.query(`truncate ${copy}`);
    await owner.query(`insert into ${copy} select * from ledger.${copy.slice(5)}`);
  }
  await owner.query(`set session_replication_role = replica`);
  try {
    await owner.query(change);
    return await work();
  } finally {
    for (const copy of COPIES) {
      await owner.query(`delete from ledger.${copy.slice(5)}`);
      await owner.query(`insert into ledger.${copy.slice(5)} overriding system value select * from ${copy}`);
    }
  }
}

const block = (no: number) => `book_id = ${book} and block_no = ${no}`;
const HEAD = `head = (select hash from ledger.block k where k.book_id = b.book_id and k.block_no = b.block_no)`;

test.each([
  [
    'the book ends at an earlier block, under the hash that was signed',
    `update ledger.book set block_no = 2 where book_id = ${book}`,
    'ends at block 2 and is not what was signed up to block 3',
  ],
  [
    'the book has another head',
    `update ledger.book set head = sha256('x') where book_id = ${book}`,
    'is not what was signed up to block 3',
  ],
  [
    'a book is gone',
    `delete from ledger.book where book_id = ${book}; delete from ledger.block where book_id = ${book}`,
    `book ${book} is gone`,
  ],
])('where %s, no checkpoint is taken', async (_, change, words) => {
  await whileChanged(change, () => expect(take()).rejects.toThrow(words));
});

test('of blocks that came since, each must be there, up to the head, behind the one that was signed', async () => {
  for (const amount of [40, 50]) await topUp(pool, book, amount);
  const changes: [string, string][] = [
    [
      `update ledger.block set hash = sha256('x') where ${block(3)}`,
      `block 3 of book ${book} is not the one`,
    ],
    [`delete from ledger.block where ${block(3)}`, `block 3 of book ${book} is not the one`],
    [`delete from ledger.block where ${block(4)}`, 'from 4 to 5 are not whole'],
    [`delete from ledger.block where ${block(5)}`, 'from 4 to 5 are not whole'],
    [`update ledger.block set hash = sha256('x') where ${block(5)}`, 'from 4 to 5 are not whole'],
    [
      `update ledger.book b set block_no = 6, head = sha256('x') where book_id = ${book}`,
      'from 4 to 6 are not whole',
    ],
    // Too few, and the last of them is the head all the same.
    [
      `delete from ledger.block where ${block(5)};
       update ledger.book b set block_no = 4 where book_id = ${book};
       update ledger.book b set ${HEAD} where book_id = ${book};
       update ledger.book b set block_no = 5 where book_id = ${book}`,
      'from 4 to 5 are not whole',
    ],
  ];
  for (const [change, words] of changes)
    await whileChanged(change, () => expect(take(), change).rejects.toThrow(words));
});

test('only books that have moved get a further record, and the checkpoint covers all of them', async () => {
  const { checkpoint_no, note } = await take();
  const { rows } = await owner.query(
    'select book_id, first_block, last_block from ledger_checkpoint_head where checkpoint_no = $1',
    [checkpoint_no],
  );
  expect(rows).toEqual([{ book_id: book, first_block: 4, last_block: 5 }]);
  expect(await check(note)).toMatchObject({ books: 3, findings: [] });
});

test('read a book at a time, two or all at once, a checkpoint signs the same, and is compared the same', async () => {
  const root = (note: string) => note.split('\n').slice(1, 3);
  const whole = await take();
  for (const limit of [1, 2, 3]) {
    const { note } = await take(limit);
    expect(root(note)).toEqual(root(whole.note));
    expect(await check(note, limit)).toMatchObject({ books: 3, findings: [] });
    expect(await check(signed.note, limit)).toMatchObject({ books: 3, findings: [] });
  }
});

test('a book that is new among those that were signed shifts the pages, and none is taken for gone', async () => {
  await makeBook(pool, { amount: 10, book_id: book + 1 });
  const { note } = await take(2);
  expect(await check(note, 2)).toMatchObject({ books: 4, findings: [] });
});

/** The blocks of each statement of a read in pages of `page` blocks, as `book no`. */
async function blocksRead(page: number): Promise<string[][]> {
  const heads = await readHeads(pool, { shard: 'main', checkpoint_no: 1, after: 0, limit: 10 });
  const ledger = pool.shards.at('main');
  const read: string[][] = [];
  let visited: string[] = [];
  const watched: Db = {
    query: (statement) => {
      visited = [];
      read.push(visited);
      return ledger.query(statement);
    },
  };
  const visit = ({ book_id, block_no }: { book_id: number; block_no: number }) =>
    visited.push(`${book_id} ${block_no}`);
  await eachBlock(watched, heads, visit, page);
  return read;
}

test.each([1, 2, 3, 4, 8, 9, 10])(
  'in pages of %i blocks each block is read once and in order, and each page but the last is full',
  async (page) => {
    const all = books.flatMap((book_id) => [1, 2, 3].map((block_no) => `${book_id} ${block_no}`));
    const pages = Array.from({ length: Math.ceil(all.length / page) }, (_, i) =>
      all.slice(i * page, (i + 1) * page),
    );
    expect(await blocksRead(page)).toEqual(pages);
  },
);
