// A proof of 2026-11-28, kept: what was given out once is checked by every later release. Each step of its check is left out in turn.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { checkProof, type Proof } from './check-proof.ts';

const file = readFileSync(new URL('fixtures/proof.json', import.meta.url), 'utf8');
const read = () => JSON.parse(file) as Proof;
const { note, verifier_key } = read().checkpoint;

/** Members that a test may change: those of a proof are to be read alone. */
type Open<T> = T extends object ? { -readonly [K in keyof T]: Open<T[K]> } : T;

function checkChanged(change: (proof: Open<Proof>) => void): () => unknown {
  const proof = read() as Open<Proof>;
  change(proof);
  return () => checkProof(proof, { verifier_key });
}

test('a proof that was given out says what was charged, when, and under which checkpoint', () => {
  expect(checkProof(read(), { verifier_key })).toEqual({
    request_id: '01M8HXJCPC2QHD01HYYS9032TN',
    cost_micro_usd: 10,
    charged_micro_usd: 10,
    input_tokens: 100,
    output_tokens: 20,
    settled_at: new Date('2026-11-28T20:29:26.606Z'),
    checkpoint_no: 2,
    taken_at: new Date('2026-11-28T20:29:26.633Z'),
  });
});

test('each call of its block is proved by the same file', () => {
  const proof = { ...read(), request_id: '01M8HXJCPC2QHD01HYYS9032TP' };
  expect(checkProof(proof, { verifier_key })).toMatchObject({ cost_micro_usd: 20, charged_micro_usd: 20 });
});

test('a call that is not in the block is not proved', () => {
  expect(checkChanged((proof) => (proof.request_id = '01M8HXJCPC2QHD01HYYS9032TQ'))).toThrow(
    'does not have the call 01M8HXJCPC2QHD01HYYS9032TQ',
  );
});

test('a checkpoint that was kept apart is taken instead of that of the proof', () => {
  const proof = read() as Open<Proof>;
  proof.checkpoint.note = 'nothing';
  expect(checkProof(proof, { verifier_key, published: note })).toMatchObject({ checkpoint_no: 2 });
  expect(() => checkProof(read(), { verifier_key, published: 'nothing' })).toThrow('no signed note');
});

test.each<[string, (proof: Open<Proof>) => void]>([
  ['before the first of its book', ({ block }) => (block.no = '2')],
  ['behind the last of its book', ({ block }) => (block.no = '4')],
  ['with a path that is too long', ({ book, checkpoint }) => (book.path = checkpoint.path)],
  ['with a path that is too short', ({ book }) => (book.last_block = 4)],
])('a block %s has no place', (_, change) => {
  expect(checkChanged(change)).toThrow('has no place among the blocks of its book');
});

test.each<[string, (proof: Open<Proof>) => void]>([
  ['the cost of another call', ({ block }) => (block.calls[1]!.cost = '21')],
  ['what another call was charged', ({ block }) => (block.calls[1]!.charged = '19')],
  ['a count of another call', ({ block }) => (block.calls[1]!.numbers[3] = '101')],
  ['other units', ({ block }) => (block.calls[1]!.other_units = ['1', '3'])],
  ['other units for a call without any', ({ block }) => (block.calls[0]!.other_units = [])],
  ['no other units', ({ block }) => (block.calls[1]!.other_units = null)],
  ['a call less', ({ block }) => (block.calls = [block.calls[0]!])],
  ['calls turned round', ({ block }) => (block.calls = block.calls.toReversed())],
  ['the time', ({ block }) => (block.created_at = '1795897766606001')],
  ['the first entry', ({ block }) => (block.first_seq = '5')],
  ['the balance before', ({ block }) => (block.balance_before = '8791')],
  ['the block before', ({ block }) => (block.previous_hash = '00'.repeat(32))],
  ['the book', ({ book }) => (book.book_id = 2)],
  ['the shard', ({ book }) => (book.shard = 'a')],
  ['the head', ({ book }) => (book.head = '00'.repeat(32))],
  ['the place in the checkpoint', ({ checkpoint }) => (checkpoint.index = 1)],
  ['a place that the checkpoint has not', ({ checkpoint }) => (checkpoint.index = 2)],
  ['no way to the checkpoint', ({ checkpoint }) => (checkpoint.path = [])],
  ['a way that is too long', ({ checkpoint }) => checkpoint.path.push('00'.repeat(32))],
])('a proof with %s changed is not what was signed', (_, change) => {
  expect(checkChanged(change)).toThrow('is not what checkpoint 2 signed');
});

const FORM = 'this is no proof of a call';
test.each<[string, (proof: Open<Proof>) => void]>([
  ['of another format', (proof) => Object.assign(proof, { format: 'svc ledger proof 2' })],
  ['without a call', (proof) => Object.assign(proof, { request_id: 1 })],
  ['with an integer as a number', ({ block }) => Object.assign(block, { no: 3 })],
  ['with an integer of twenty figures', ({ block }) => (block.no = '1'.repeat(20))],
  ['with an integer that is none', ({ block }) => (block.first_seq = '4 ')],
  ['with more before an integer', ({ block }) => (block.first_seq = ' 4')],
  ['with half a hash', ({ block }) => (block.previous_hash = '00'.repeat(16))],
  ['with more before a hash', ({ block }) => (block.previous_hash = `0${block.previous_hash}`)],
  ['with more behind a hash', ({ block }) => (block.previous_hash = `${block.previous_hash}0`)],
  ['with eleven numbers of a call', ({ block }) => block.calls[0]!.numbers.pop()],
  ['with thirteen numbers of a call', ({ block }) => block.calls[0]!.numbers.push('0')],
  ['with a request that is no uuid', ({ block }) => (block.calls[0]!.request_id += '0')],
  ['with more before a uuid', ({ block }) => (block.calls[0]!.request_id = `0${block.calls[0]!.request_id}`)],
  ['with a place below nothing', ({ checkpoint }) => (checkpoint.index = -1)],
  ['with a place that is no integer', ({ book }) => (book.first_block = 2.5)],
  ['with a place beyond what is exact', ({ book }) => (book.last_block = 2 ** 53)],
  ['with a way of sixty-five', ({ book }) => (book.path = Array<string>(65).fill('00'.repeat(32)))],
  ['without its block', (proof) => Object.assign(proof, { block: undefined })],
  ['without its book', (proof) => Object.assign(proof, { book: undefined })],
  ['without its checkpoint', (proof) => Object.assign(proof, { checkpoint: undefined })],
  ['without a note', ({ checkpoint }) => Object.assign(checkpoint, { note: undefined })],
])('a file %s is no proof', (_, change) => {
  expect(checkChanged(change)).toThrow(FORM);
});

test('integers may be below nothing and of nineteen figures, and a way of sixty-four siblings', () => {
  for (const change of [
    ({ block }: Open<Proof>) => (block.balance_before = '-1'),
    ({ block }: Open<Proof>) => (block.balance_before = '9'.repeat(18)),
    ({ checkpoint }: Open<Proof>) => (checkpoint.path = Array<string>(64).fill('00'.repeat(32))),
  ])
    expect(checkChanged(change)).toThrow('is not what checkpoint 2 signed');
});
