// Units that few calls have: kept with their call on every way that a settle can go, and never with another.
import { rmSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { createTestLedger } from '../../test/support/shards.ts';
import { createPool } from '../db/index.ts';
import { newRequestId, type RequestId } from '../kernel/index.ts';
import { meterNumbers } from './batch/batch.ts';
import { ulidToUuid } from './batch/encode.ts';
import { dumpLedger, meteredUsage, OTHER_UNITS, readMeter, verifyLedger } from './index.ts';
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
} from './testing/testing.ts';
import type { OtherUnits, Settle } from './types.ts';

const url = await createTestLedger();
const db = createPool(url);
const owner = await openOwner(url);
const journal = journalDirectory();
const ledger = await openTestLedger(url, journal.dir, PATIENT);
const dir = join(tmpdir(), `svc-units-${process.pid}`);
afterAll(async () => {
  await ledger.close();
  await owner.end();
  await db.end();
  journal.remove();
  rmSync(dir, { recursive: true, force: true });
});
const book = await makeBook(db, { amount: 1_000_000 });
const subject = subjectOf(book);
const neighbour = subjectOf(await makeBook(db, { amount: 1_000_000 }));

/** Nothing, one kind, all kinds, and the bounds of a count, in turn. */
const all = Object.fromEntries(OTHER_UNITS.map((name, i) => [name, 10 + i]));
const turns: readonly (OtherUnits | undefined)[] = [
  undefined,
  { search_units: 3 },
  all,
  { requests: 0 },
  undefined,
  { insured: 1, image_output_tokens: 2_147_483_647 },
];

/** Three calls on one book, then three on its neighbour: a batch has blocks with and without units on both. */
const payer = (i: number) => (i % 6 < 3 ? subject : neighbour);

function settleWith(id: RequestId, i: number): Settle {
  const other = turns[i % turns.length];
  return { ...settleOf(payer(i), id, 5), units: other === undefined ? UNITS : { ...UNITS, other } };
}

async function held(n: number): Promise<RequestId[]> {
  const ids = Array.from({ length: n }, () => newRequestId());
  await Promise.all(ids.map((id, i) => ledger.hold(holdOf(payer(i), 100, id))));
  return ids;
}

/** What is stored of `ids`, which were settled in turn. */
async function expectTurns(ids: readonly RequestId[]): Promise<void> {
  for (const [i, id] of ids.entries()) {
    const metered = await readMeter(db, id);
    expect(metered?.units, `call ${i}`).toEqual(settleWith(id, i).units);
  }
  expect((await verifyLedger({ url })).findings).toEqual([]);
}

test('each call of a batch has its own units, and a call without any has none', async () => {
  const ids = await held(40);
  const settled = await Promise.all(ids.map((id, i) => ledger.settle(settleWith(id, i))));
  expect(settled.every(({ status }) => status === 'settled')).toBe(true);
  await expectTurns(ids);
  const { rows } = await owner.query<{ has: boolean }>(
    'select other_units is not null as has from ledger.meter where request_id = any ($1) order by request_id',
    [ids.slice(0, 6).map(ulidToUuid)],
  );
  expect(rows.map(({ has }) => has)).toEqual([false, true, true, true, false, true]);
});

test('beside duplicates, late ones and those that are refused every call keeps its units', async () => {
  const before = await held(6);
  await Promise.all(before.map((id, i) => ledger.settle(settleWith(id, i))));
  const fresh = await held(24);
  const late = Array.from({ length: 6 }, () => newRequestId());
  const batch = [...fresh, ...late];
  const again = await Promise.all([
    ...batch.map((id, i) => ledger.settle(settleWith(id, i))),
    // Sent again with other units: what was booked first stays.
    ...before.map((id, i) => ledger.settle(settleWith(id, i + 1))),
  ]);
  expect(again.map(({ status }) => status)).toEqual([
    ...fresh.map(() => 'settled'),
    ...late.map(() => 'late'),
    ...before.map(() => 'duplicate'),
  ]);
  await expectTurns(before);
  await expectTurns(batch);
});

test('in a batch that is decided item by item every call keeps its units', async () => {
  const ids = await held(12);
  const settled = await Promise.all([
    ...ids.map((id, i) => ledger.settle(settleWith(id, i))),
    ledger.settle({ ...settleWith(newRequestId(), 2), key_no: 7_777_777 }),
  ]);
  expect(settled.map(({ status }) => status)).toEqual([...ids.map(() => 'settled'), 'refused']);
  await expectTurns(ids);
});

test.each([
  ['negative', { search_units: -1 }],
  ['fractional', { audio_input_tokens: 1.5 }],
  ['too large', { image_input_tokens: 2_147_483_648 }],
  ['of a kind that nobody knows', { hours: 1 }],
])('units that are %s are refused before they are sent', async (_, other) => {
  const [id] = await held(1);
  const settle = { ...settleOf(subject, id!, 5), units: { ...UNITS, other: other as OtherUnits } };
  expect(await ledger.settle(settle)).toEqual({ status: 'refused', charged_micro_usd: null });
  expect(await readMeter(db, id!)).toBe(null);
});

test.each([
  ['an unknown kind', [1, 8, 1]],
  ['a negative count', [1, 1, -1]],
  ['a kind twice', [1, 2, 5, 1, 2, 5]],
  ['kinds out of order', [1, 2, 5, 1, 1, 5]],
  ['another item', [2, 1, 5]],
  ['half a triple', [1, 1]],
])('the database refuses %s', async (_, tail) => {
  const [id] = await held(1);
  const numbers = [1, 2, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, ...tail];
  const { rows } = await owner.query<{ o_status: string }>(
    `select o_status from ledger.settle(array[$1]::bigint[], '{1,2}', array[$2, $3]::int[],
       array[ledger.ulid_day($4), date_trunc('month', ledger.ulid_day($4)::timestamp)::date], '{1,1}', array[$4]::uuid[],
       '{1}', '{1}', '{2}', '{5}', $5, '{}', now())`,
    [book, subject.key_no, subject.project_no, ulidToUuid(id!), numbers],
  );
  expect(rows).toEqual([{ o_status: 'e' }]);
  expect(await readMeter(db, id!)).toBe(null);
});

test('a batch without other units sends nothing for them', () => {
  const settle = settleOf(subject, newRequestId(), 5);
  const { length } = meterNumbers([settle, settle]);
  expect(length).toBe(20 + 24 * 8);
  expect(meterNumbers([settle, { ...settle, units: { ...UNITS, other: {} } }])).toHaveLength(length);
});

test('kinds of units have the numbers of the table', async () => {
  const { rows } = await owner.query<{ kind: number; name: string }>(
    'select kind, name from ledger.unit_kind order by kind',
  );
  expect(rows).toEqual(OTHER_UNITS.map((name, i) => ({ kind: i + 1, name })));
});

test('what was metered is reported as usage, insurance separately', () => {
  const units = { ...UNITS, other: { search_units: 2, requests: 0, insured: 1 } };
  expect(meteredUsage({ units, estimated: true })).toEqual({
    usage: { ...UNITS, search_units: 2, requests: 0, source: 'estimate' },
    insured: true,
  });
  expect(meteredUsage({ units: UNITS, estimated: false })).toEqual({
    usage: { ...UNITS, source: 'provider' },
    insured: false,
  });
});

const FIRST = /"\{1,3\}"(?=,null\]$)/m;
test.each([
  ['a count', FIRST, '"{1,4}"', 'hash'],
  ['a count that would wrap around to the right one', FIRST, '"{1,4294967299}"', 'hash'],
  ['no units at all', FIRST, 'null', 'hash'],
  ['an unknown kind', FIRST, '"{9,3}"', 'unit'],
  ['a kind without a count', FIRST, '"{1}"', 'unit'],
  ['no number', FIRST, '"{1,x}"', 'unit'],
])('%s in a dump is found', async (_, from, to, check) => {
  await dumpLedger(url, dir);
  const file = join(dir, 'meter.ndjson');
  const text = await readFile(file, 'utf8');
  expect(text).toMatch(from);
  await writeFile(file, text.replace(from, to));
  const report = await verifyLedger({ dump: dir });
  expect(report.findings.map((finding) => finding.check)).toContain(check);
});
