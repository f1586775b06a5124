import { expect, test } from 'vitest';
import { leafHash } from './merkle.ts';
import { bookLeaf, readStatement, type Statement, writeStatement } from './statement.ts';

const statement: Statement = {
  checkpoint_no: 12,
  taken_at: new Date('2026-11-21T00:05:00.250Z'),
  books: 3,
  root: Buffer.alloc(32, 7),
  previous: 'ab'.repeat(32),
};
const TEXT = `svc-ledger
3
BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=
checkpoint 12
taken 2026-11-21T00:05:00.250Z
previous ${'ab'.repeat(32)}
`;

test('a statement is the six lines that the form has', () => {
  expect(writeStatement(statement)).toBe(TEXT);
});

test.each([statement.previous, null])('what is written is read again, with %s before it', (previous) => {
  const one = { ...statement, previous };
  expect(readStatement(writeStatement(one))).toEqual(one);
});

test.each([
  ['another log', TEXT.replace('svc-ledger', 'svc-other')],
  ['a line before it', `\n${TEXT}`],
  ['a line behind it', `${TEXT}more\n`],
  ['no number of books', TEXT.replace('\n3\n', '\n\n')],
  ['a number of books that is none', TEXT.replace('\n3\n', '\nx\n')],
  ['a number of sixteen digits', TEXT.replace('checkpoint 12', `checkpoint ${'1'.repeat(16)}`)],
  ['no number', TEXT.replace('checkpoint 12', 'checkpoint ')],
  ['a root that is too short', TEXT.replace('BwcH', 'Bwc')],
  ['a root without its end', TEXT.replace('Bwc=', 'BwcH')],
  ['a time without milliseconds', TEXT.replace('.250Z', 'Z')],
  ['half a hash before it', TEXT.replace('ab'.repeat(32), 'ab'.repeat(16))],
])('%s is no statement', (_, text) => {
  expect(() => readStatement(text)).toThrow('no checkpoint of a ledger');
});

test('the leaf of a book covers its shard, its number, its blocks and both hashes', () => {
  const book = { book_id: 5, first_block: 2, last_block: 9, head: Buffer.from('0a', 'hex') };
  expect(bookLeaf('main', { ...book, blocks_root: Buffer.from('0b', 'hex') })).toEqual(
    leafHash(Buffer.from('main 5 2 9 0a 0b')),
  );
});
