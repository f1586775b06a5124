// What callers of three processes saw of a book while processes were killed is what one book, asked by one caller after another,
// would have answered; and a ledger that is broken on purpose is refused.

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { verifyLedger } from '@svc/core/ledger/index.ts';
import { expect, test } from 'vitest';
import { mutate } from '../mutations/ledger/mutate.ts';
import { MUTATIONS } from '../mutations/ledger/mutations.ts';
import { createTestDatabase } from '../support/database.ts';
import { toolPath } from '../support/engine.ts';
import { judge } from './judge.ts';
import type { History, Operation } from './operations.ts';
import { record } from './record.ts';

const verdicts = async (history: History) => (await judge(history)).map(({ verdict }) => verdict);

test('the checker is built of the sources beside this test', async () => {
  const hash = createHash('sha256');
  for (const name of ['main.go', 'book.go', 'go.mod', 'go.sum'])
    hash.update(readFileSync(new URL(`./checker/${name}`, import.meta.url)));
  const version = execFileSync(await toolPath('linearizable'), ['-version'], { encoding: 'utf8' });
  expect(version).toContain(hash.digest('hex').slice(0, 16));
});

test('three processes under kills: holds, settles, top-ups and refunds of every book are linearizable', async () => {
  const url = await createTestDatabase();
  const history = await record(url, { seed: 20_261_128, books: 3, operations: 1_500, kills: 5 });
  const all = Object.values(history).flat();
  const answers = new Set(all.map(({ kind, answer }) => `${kind} ${answer}`));
  // The history has what makes it hard: refusals, repeats, settles without a hold, deaths and sweeps.
  for (const hard of [
    ...['hold insufficient_credits', 'settle duplicate', 'settle late', 'topup replay', 'refund replay'],
    ...['refund refused', 'sweep done', 'release done'],
  ])
    expect(answers).toContain(hard);
  expect(all.filter(({ answer }) => answer === '').length).toBeGreaterThan(5);
  expect(all.some(({ charged = 0, amount, answer }) => answer === 'settled' && charged < amount)).toBe(true);
  expect(await judge(history)).toEqual(
    Object.keys(history).map((book) => expect.objectContaining({ book, verdict: 'Ok' })),
  );
  expect((await verifyLedger({ url })).findings).toEqual([]);
}, 120_000);

const op = (no: number, more: Partial<Operation>): Operation => ({
  ...{ kind: 'balance', id: '', amount: 0, client: no, call: no * 10, return: no * 10 + 5, answer: 'read' },
  ...more,
});
const topup = op(1, { kind: 'topup', id: 'a', amount: 100, answer: 'moved' });

test('an answer that no order explains is refused, and one that an order explains is not', async () => {
  const hold = (no: number, more: Partial<Operation> = {}) =>
    op(no, { kind: 'hold', id: `h${no}`, amount: 60, answer: 'ok', ...more });
  // 60 and 60 of 100: one after the other, at once, and where the second is refused.
  expect(await verdicts({ 1: [topup, hold(2), hold(3)] })).toEqual(['Illegal']);
  expect(await verdicts({ 1: [topup, hold(2, { return: 40 }), hold(3)] })).toEqual(['Illegal']);
  const refused = hold(3, { answer: 'insufficient_credits' });
  expect(await verdicts({ 1: [topup, hold(2), refused] })).toEqual(['Ok']);
  // Whoever was killed may have held, or not; a balance read later tells, and cannot tell both.
  const unknown = hold(2, { answer: '', return: 1_000 });
  const read = (no: number, available: number, held: number) => op(no, { available, held });
  expect(await verdicts({ 1: [topup, unknown, read(3, 100, 0), read(4, 40, 60)] })).toEqual(['Ok']);
  expect(await verdicts({ 1: [topup, unknown, read(3, 40, 60), read(4, 100, 0)] })).toEqual(['Illegal']);
  // What was acknowledged before is seen.
  expect(await verdicts({ 1: [topup, read(2, 0, 0)] })).toEqual(['Illegal']);
});

/** How it was until this test found it. */
const REPEAT_REFUSED = {
  name: 'a hold that stands is refused when it is sent again',
  function: 'hold_run',
  from: 'if exists (select from unnest(p_id, v_ok) u(id, ok)',
  to: 'if false and exists (select from unnest(p_id, v_ok) u(id, ok)',
};
const named = new Map(MUTATIONS.map((mutation) => [mutation.name, mutation]));

test.each([
  'a hold is decided without the lock of its book',
  'a settle sent again is charged again',
  'a release does not give back',
  'a credit sent again is credited again',
  REPEAT_REFUSED.name,
])(
  'it is refused when %s',
  async (name) => {
    const url = await createTestDatabase();
    await mutate(url, named.get(name) ?? REPEAT_REFUSED);
    const history = await record(url, { seed: 7, books: 2, operations: 400, kills: 0, repeated: 0.6 });
    expect(await verdicts(history)).toContain('Illegal');
  },
  60_000,
);
