// The verifier on a dump of the books of verify.test.ts (which says how it is written anew), one thing of it changed. The list of what
// is found is whole: what is said too much leads astray whoever looks for the cause.
import { expect, test } from 'vitest';
import { A, B, type Case, findingsAfter, fixtures, Tables } from '../testing/dump.ts';
import { verifyLedger } from './verify.ts';

test('the dump is found right, and how much it has is counted', async () => {
  expect(await new Tables().findings()).toBe('');
  expect(await verifyLedger({ dump: fixtures })).toEqual({
    ok: true,
    ...{ books: 2, entries: 18, meters: 14, findings: [], more: 0 },
  });
});

const BLOCKS: Case[] = [
  [
    'a block that begins later',
    (t) => t.set('block', { ...A, block_no: '5' }, { first_seq: '6' }),
    '1: block seq time entry hash burn block seq meter charge hash burn window window',
  ],
  [
    'a block before the one before it',
    (t) => t.set('block', { ...A, block_no: '5' }, { created_at: '1795896832316999' }),
    '1: time time time hash',
  ],
  [
    'a block at the time of the one before it',
    (t) => t.set('block', { ...A, block_no: '5' }, { created_at: '1795896832317000' }),
    '1: time time hash',
  ],
  [
    'a first block before 1970, which is behind none',
    (t) => {
      t.set('block', { ...A, block_no: '1' }, { created_at: '-1' });
      t.set('entry', { ...A, seq: '1' }, { created_at: '-1' });
    },
    '1: hash',
  ],
  [
    'the hash of a block',
    (t) => t.set('block', { ...A, block_no: '5' }, { hash: '00'.repeat(32) }),
    '1: hash hash',
  ],
  [
    'a block that is gone',
    (t) => t.remove('block', { ...A, block_no: '5' }),
    '1: block block seq time time meter meter meter meter hash burn burn',
  ],
  [
    'a last block that is gone',
    (t) => t.remove('block', { ...A, block_no: '12' }),
    '1: entry meter burn burn window window run balance seq block hash lot lot lot granted lot',
  ],
  [
    'a first block that is gone',
    (t) => t.remove('block', { ...A, block_no: '1' }),
    '1: block block seq time block hash',
  ],
  [
    'an entry less in a block',
    (t) => t.set('block', { ...A, block_no: '5' }, { entries: '1' }),
    '1: meter charge hash burn block seq time entry hash burn window window',
  ],
  [
    'an entry more in a block',
    (t) => t.set('block', { ...A, block_no: '5' }, { entries: '3' }),
    '1: time entry burn block seq meter charge hash burn window window',
  ],
  [
    'a metering record more in a block',
    (t) => t.set('block', { ...A, block_no: '5' }, { meters: '4' }),
    '1: meter',
  ],
  [
    'a movement with metering',
    (t) => t.set('block', { ...A, block_no: '9' }, { meters: '1' }),
    '1: meter entry hash burn lot lot lot granted',
  ],
  [
    'calls without metering',
    (t) => t.set('block', { ...A, block_no: '5' }, { meters: '0' }),
    '1: meter block hash burn window window',
  ],
  [
    'a movement of no entry',
    (t) => {
      t.remove('entry', { ...A, seq: '13' });
    },
    '1: seq block hash balance hash burn lot lot lot granted',
  ],
];

const ENTRIES: Case[] = [
  [
    'the amount of an entry',
    (t) => t.set('entry', { ...A, seq: '6' }, { amount: '-119' }),
    '1: balance charge hash burn window window',
  ],
  [
    'the balance after an entry',
    (t) => t.set('entry', { ...A, seq: '6' }, { balance_after: '5061' }),
    '1: balance balance hash',
  ],
  [
    'the balance after the last entry',
    (t) => t.set('entry', { ...B, seq: '2' }, { amount: '-401', balance_after: '-1' }),
    '2: balance charge hash burn window window balance',
  ],
  [
    'the time of an entry',
    (t) => t.set('entry', { ...A, seq: '6' }, { created_at: '1795896832343001' }),
    '1: time',
  ],
  [
    'the call of an entry',
    (t) => t.set('entry', { ...A, seq: '6' }, { request_id: '01a223ca-f142-f8e0-0ece-9e99ed72005f' }),
    '1: meter',
  ],
  ['another kind for a call', (t) => t.set('entry', { ...A, seq: '6' }, { kind: '9' }), '1: meter'],
  ['a call for a movement', (t) => t.set('entry', { ...A, seq: '13' }, { kind: '1' }), '1: entry hash'],
  ['the kind of a credit', (t) => t.set('entry', { ...A, seq: '13' }, { kind: '10' }), '1: hash'],
  ['the type of a reference', (t) => t.set('entry', { ...A, seq: '13' }, { ref_type: 'other' }), '1: hash'],
  ['a reference', (t) => t.set('entry', { ...A, seq: '13' }, { ref_id: 'other' }), '1: hash'],
  ['an entry twice', (t) => t.add('entry', { ...A, seq: '6' }, {}), '1: seq balance burn'],
  [
    'an entry that is gone',
    (t) => t.remove('entry', { ...A, seq: '7' }),
    '1: seq balance meter charge hash burn window window',
  ],
  [
    'a last entry that is gone',
    (t) => t.remove('entry', { ...A, seq: '16' }),
    '1: seq meter charge hash burn window window run balance',
  ],
  ['an entry behind the last block', (t) => t.add('entry', { ...A, seq: '16' }, { seq: '17' }), '1: entry'],
];

const METERS: Case[] = [
  ['the cost of a call', (t) => t.set('meter', { ...A, seq: '6' }, { cost: '121' }), '1: charge hash'],
  [
    'a cost below nothing',
    (t) => t.set('meter', { ...A, block_no: '5', seq: null }, { cost: '-1' }),
    '1: meter meter hash',
  ],
  [
    'a cost without an entry',
    (t) => t.set('meter', { ...A, block_no: '5', seq: null }, { cost: '1' }),
    '1: meter hash',
  ],
  [
    'a call that names the entry of another',
    (t) => t.set('meter', { ...A, seq: '6' }, { seq: '5' }),
    '1: meter charge entry hash window window',
  ],
  [
    'a call that names no entry',
    (t) => t.set('meter', { ...A, seq: '6' }, { seq: null }),
    '1: meter entry hash window window',
  ],
  [
    'a call that names an entry of another block',
    (t) => t.set('meter', { ...A, seq: '6' }, { seq: '9' }),
    '1: meter charge entry hash window window',
  ],
  [
    'calls that name entries out of order',
    (t) => {
      t.set('meter', { ...A, seq: '5' }, { seq: '6.' });
      t.set('meter', { ...A, seq: '6' }, { seq: '5' });
      t.set('meter', { ...A, seq: '6.' }, { seq: '6' });
      t.set('entry', { ...A, seq: '5' }, { request_id: '01a223ca-f142-f8e0-0ece-9e99ed720060' });
      t.set('entry', { ...A, seq: '6' }, { request_id: '01a223ca-f142-f8e0-0ece-9e99ed72005e' });
    },
    '1: meter',
  ],
  [
    'a call of a block that is not there',
    (t) => t.set('meter', { ...A, block_no: '5', seq: null }, { block_no: '4' }),
    '1: meter',
  ],
  [
    'a call behind the last block',
    (t) => t.set('meter', { ...A, seq: '16' }, { block_no: '13' }),
    '1: meter entry hash meter window window run',
  ],
  ['a call that is gone', (t) => t.remove('meter', { ...A, seq: '7' }), '1: meter entry hash window window'],
  ['the key of a call', (t) => t.set('meter', { ...A, seq: '6' }, { key_no: '12' }), '1: window window'],
  [
    'the project of a call',
    (t) => t.set('meter', { ...A, seq: '6' }, { project_no: '12' }),
    '1: window window',
  ],
  ['the run of a call', (t) => t.set('meter', { ...A, seq: '16' }, { run: null }), '1: run'],
  [
    'a run for a call before its first block',
    (t) => t.set('meter', { ...A, seq: '12' }, { run: '0b4f8f5e-5f3c-4f0a-9d9f-2a1b7c8d9e0f' }),
    '',
  ],
  [
    'a run that was forgotten for a call',
    (t) => t.set('meter', { ...A, seq: '12' }, { run: 'f0000000-5f3c-4f0a-9d9f-2a1b7c8d9e0f' }),
    '',
  ],
  ...[
    'model_no',
    'endpoint_no',
    'price_no',
    'input_tokens',
    'output_tokens',
    'cache_read_tokens',
    'cache_write_tokens',
    'cache_write_5m_tokens',
    'cache_write_1h_tokens',
    'reasoning_tokens',
    'outcome',
    'estimated',
  ].map(
    (column): Case => [
      `${column} of a call`,
      (t) => t.set('meter', { ...A, seq: '6' }, { [column]: '99' }),
      '1: hash',
    ],
  ),
  [
    'a count that four bytes do not hold',
    (t) => t.set('meter', { ...A, seq: '6' }, { model_no: '4294967297' }),
    '1: hash',
  ],
  ...[
    '{}',
    '{1}',
    '{1,2,3}',
    '{0,2}',
    '{8,2}',
    '{1,-1}',
    '{1,2147483648}',
    '{1,1.5}',
    '{1.5,1}',
    '{3,7,1,2}',
    '{1,2,1,2}',
  ].map(
    (units): Case => [
      `other units ${units}`,
      (t) => t.set('meter', { ...A, seq: '6' }, { other_units: units }),
      '1: unit hash',
    ],
  ),
];

const UNITS: Case[] = ['{1,2,7,2147483647}', '{1,0}'].map((units) => [
  `other units ${units}, which may be`,
  (t) => t.set('meter', { ...A, seq: '6' }, { other_units: units }),
  '1: hash',
]);

const WRITEOFFS: Case[] = [
  ['a write-off', (t) => t.set('writeoff', B, { amount: '51' }), '2: charge'],
  ['a write-off that is gone', (t) => t.remove('writeoff', B), '2: charge'],
  [
    'a write-off of another call',
    (t) => t.set('writeoff', B, { request_id: '01a223ca-f142-f8e0-0ece-9e99ed72005f' }),
    '2: writeoff charge',
  ],
  ['a write-off of a credit', (t) => t.set('writeoff', B, { seq: '1' }), '2: writeoff charge'],
  [
    'a write-off of a credit, without a call',
    (t) => t.set('writeoff', B, { seq: '1', request_id: null }),
    '2: charge charge',
  ],
  [
    'a write-off of nothing at a credit',
    (t) => t.set('writeoff', B, { book_id: '1', seq: '13', amount: '0', request_id: null }),
    '2: charge',
  ],
  [
    'a write-off of a debit',
    (t) => t.set('writeoff', B, { book_id: '1', seq: '14', request_id: null }),
    '2: charge',
  ],
  [
    'a write-off of a call at an entry that has one already',
    (t) => {
      t.add('writeoff', B, { seq: '1' });
      t.set('writeoff', { ...B, seq: '2' }, { seq: '1', amount: '0', request_id: null });
    },
    '2: writeoff charge',
  ],
  [
    'a debit of nothing, all of which was written off, as may be: its block is new',
    (t) => {
      const debit = { seq: '3', kind: '17', ref_type: 'dispute', ref_id: 'dis_1', request_id: null };
      t.add('entry', { ...B, seq: '2' }, { ...debit, amount: '0' });
      t.add('block', { ...B, block_no: '2' }, { block_no: '3', first_seq: '3', meters: '0' });
      t.add('writeoff', B, { seq: '3', request_id: null });
    },
    '2: hash seq block',
  ],
  ['a write-off behind the last entry', (t) => t.set('writeoff', B, { seq: '3' }), '2: charge writeoff'],
];

test.each([...BLOCKS, ...ENTRIES, ...METERS, ...UNITS, ...WRITEOFFS])('%s', async (_, change, findings) => {
  expect(await findingsAfter(change)).toBe(findings);
});

test('rows of a book that is gone are named one by one, and the other books are looked at all the same', async () => {
  const tables = new Tables();
  tables.remove('book', A);
  tables.set('win', { ...B, kind: '1' }, { spent: '1' });
  const { findings, ...counts } = await tables.verify();
  expect(findings.filter(({ check }) => check === 'owner')).toHaveLength(62);
  expect(findings.filter(({ check }) => check !== 'owner')).toMatchObject([{ book_id: 2, check: 'window' }]);
  expect(counts).toEqual({ ok: false, books: 1, entries: 2, meters: 1, more: 0 });
});

test('of more than two hundred findings the rest is counted', async () => {
  const tables = new Tables();
  for (let i = 0; i < 203; i++)
    tables.add('win', { ...A, kind: '1' }, { subject: `${100 + i}`, spent: '1', held: '0' });
  const { ok, findings, more } = await tables.verify();
  expect({ ok, listed: findings.length, more }).toEqual({ ok: false, listed: 200, more: 3 });
});
