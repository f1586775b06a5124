// A batch as PostgreSQL will read it: its arrays are decoded here from the form that PostgreSQL documents, not by our encoder.
import { expect, test } from 'vitest';
import { CROCKFORD, microUsd, type RequestId } from '../../kernel/index.ts';
import { holdOf, settleOf, UNITS } from '../testing/testing.ts';
import type { Hold, Settle } from '../types.ts';
import { holdFault, type Item, meterNumbers, place, settleFault, withoutCharge } from './batch.ts';

/** Type and values of an array of integers in PostgreSQL's binary form. */
function decode(buffer: Buffer): { oid: number; values: number[] } {
  const [dimensions, nulls, oid] = [0, 4, 8].map((at) => buffer.readInt32BE(at)) as [number, number, number];
  expect(nulls).toBe(0);
  if (dimensions === 0) {
    expect(buffer).toHaveLength(12);
    return { oid, values: [] };
  }
  expect([dimensions, buffer.readInt32BE(16)]).toEqual([1, 1]);
  const values: number[] = [];
  let at = 20;
  for (let n = buffer.readInt32BE(12); n > 0; n--) {
    const size = buffer.readInt32BE(at);
    values.push(size === 8 ? Number(buffer.readBigInt64BE(at + 4)) : buffer.readIntBE(at + 4, size));
    at += 4 + size;
  }
  expect(buffer).toHaveLength(at);
  return { oid, values };
}

/** A request id of a time. */
function idAt(time: string, tail = '0'): RequestId {
  let ms = Date.parse(time);
  let text = '';
  for (let i = 0; i < 10; i++) {
    text = CROCKFORD[ms % 32] + text;
    ms = Math.floor(ms / 32);
  }
  return `${text}${tail.repeat(16)}` as RequestId;
}

const item = (time: string, book_id: number, key_no: number, project_no: number): Item => ({
  ...{ request_id: idAt(time), book_id, key_no, project_no },
});
const OID = { int8: 20, int2: 21, int4: 23, date: 1082 };
/** Days from 2000-01-01, where PostgreSQL counts dates from. */
const day = (date: string) => (Date.parse(date) - Date.parse('2000-01-01')) / 86_400_000;

test('a batch names each book and window once, and the place of each item among them', () => {
  const { common, places, books } = place([
    item('2026-11-28T00:00:00Z', 5, 1, 1),
    item('2026-11-28T23:59:59.999Z', 5, 1, 1),
    item('2026-11-29T00:00:00Z', 5, 1, 2),
    item('2026-12-01T00:00:00Z', 5, 2, 1),
    item('2026-11-30T00:00:00Z', 5, 2, 1),
    item('2026-11-28T12:00:00Z', 7_000_000_000, 3, 4),
  ]);
  expect(books).toEqual([5, 7_000_000_000]);
  const windows: [kind: number, subject: number, start: string, book: number][] = [
    [1, 1, '2026-11-28', 1],
    [2, 1, '2026-11-01', 1],
    [1, 1, '2026-11-29', 1],
    [2, 2, '2026-11-01', 1],
    [1, 2, '2026-12-01', 1],
    [2, 1, '2026-12-01', 1],
    [1, 2, '2026-11-30', 1],
    [1, 3, '2026-11-28', 2],
    [2, 4, '2026-11-01', 2],
  ];
  expect(common.map(decode)).toEqual([
    { oid: OID.int8, values: books },
    { oid: OID.int2, values: windows.map(([kind]) => kind) },
    { oid: OID.int4, values: windows.map(([, subject]) => subject) },
    { oid: OID.date, values: windows.map(([, , start]) => day(start)) },
    { oid: OID.int4, values: windows.map(([, , , book]) => book) },
  ]);
  expect(places.map(decode)).toEqual([
    { oid: OID.int4, values: [1, 1, 1, 1, 1, 2] },
    { oid: OID.int4, values: [1, 1, 3, 5, 7, 8] },
    { oid: OID.int4, values: [2, 2, 4, 6, 2, 9] },
  ]);
});

test('the key of another book is a window of its own, and is not mixed up', () => {
  const { common, places } = place([
    item('2026-11-28T00:00:00Z', 1, 9, 9),
    item('2026-11-28T00:00:00Z', 2, 9, 9),
    item('2026-11-28T00:00:00Z', 2, 9, 9),
  ]);
  expect(decode(common[4]!).values).toEqual([1, 1, 2, 2]);
  expect(places.map((one) => decode(one).values)).toEqual([
    [1, 2, 2],
    [1, 3, 3],
    [2, 4, 4],
  ]);
});

test('windows are told apart by kind, number and day, whatever the numbers are', () => {
  const windowsOf = (...items: Item[]) => decode(place(items).common[1]!).values;
  // The day of a key is here the first of the project's month.
  expect(windowsOf(item('2026-11-01T00:00:00Z', 1, 4, 2))).toEqual([1, 2]);
  const days = [item('2026-11-28T00:00:00Z', 1, 65_536, 1), item('2026-11-29T00:00:00Z', 1, 32_768, 1)];
  expect(windowsOf(...days)).toEqual([1, 2, 1]);
});

test('a batch of nothing has empty arrays', () => {
  const { common, places, books } = place([]);
  expect(books).toEqual([]);
  expect([...common, ...places].map((one) => decode(one).values)).toEqual(Array(8).fill([]));
});

const subject = { book_id: 1, key_no: 2, project_no: 3 };
const hold = holdOf(subject, 100);
const settle = settleOf(subject, hold.request_id, 50);
const RUN = '0b4f8f5e-5f3c-4f0a-9d9f-2a1b7c8d9e0f';
const budget = (run: string, max: number) => ({ budget: { run, max_micro_usd: max as never } });

test.each<[string, Partial<Hold> | Record<string, unknown>, string | null]>([
  ['as it should be', {}, null],
  ['of nothing', { amount_micro_usd: 0 }, null],
  ['below nothing', { amount_micro_usd: -1 }, 'the amount is negative'],
  ['of a fraction', { amount_micro_usd: 0.5 }, 'a value cannot be encoded'],
  ['beyond what is exact', { amount_micro_usd: 2 ** 53 }, 'a value cannot be encoded'],
  ['of no request', { request_id: 'x' }, 'a value cannot be encoded'],
  ['on a book beyond what is exact', { book_id: 2 ** 53 }, 'a value cannot be encoded'],
  ['of the last key that four bytes hold', { key_no: 2 ** 31 - 1 }, null],
  ['of a key beyond four bytes', { key_no: 2 ** 31 }, 'a value cannot be encoded'],
  ['of a project beyond four bytes', { project_no: 2 ** 31 }, 'a value cannot be encoded'],
  ['in a run', budget(RUN, 0), null],
  ['in a run that is none', budget(`${RUN}0`, 5), 'the budget is none'],
  ['in a run with more before it', budget(`0${RUN}`, 5), 'the budget is none'],
  ['in a run with a budget below nothing', budget(RUN, -1), 'the budget is none'],
  ['in a run with half a micro-dollar', budget(RUN, 0.5), 'the budget is none'],
])('a hold %s', (_, change, fault) => {
  expect(holdFault({ ...hold, ...change } as Hold)).toBe(fault);
});

const units = (change: Record<string, unknown>) => ({ units: { ...UNITS, ...change } });
test.each<[string, Record<string, unknown>, string | null]>([
  ['as it should be', {}, null],
  ['of nothing', { cost_micro_usd: 0 }, null],
  ['below nothing', { cost_micro_usd: -1 }, 'the cost is negative'],
  ['of a fraction', { cost_micro_usd: 0.5 }, 'a value cannot be encoded'],
  ['in a run', { run: RUN }, null],
  ['in a run that is none', { run: 'x' }, 'the run is none'],
  ...Object.keys(UNITS).flatMap((name): [string, Record<string, unknown>, string | null][] => [
    [`without ${name}`, units({ [name]: 0 }), null],
    [`with ${name} below nothing`, units({ [name]: -1 }), 'a unit is not a count'],
    [`with ${name} beyond four bytes`, units({ [name]: 2 ** 31 }), 'a unit is not a count'],
  ]),
  ['with other units', units({ other: { search_units: 0, insured: 1 } }), null],
  ['with an unknown unit', units({ other: { parsecs: 1 } }), 'another unit is unknown or not a count'],
  ['with half a unit', units({ other: { requests: 0.5 } }), 'another unit is unknown or not a count'],
  ...['model_no', 'endpoint_no', 'price_no'].flatMap(
    (name): [string, Record<string, unknown>, string | null][] => [
      [`of the last ${name} that four bytes hold`, { [name]: 2 ** 31 - 1 }, null],
      [`of a ${name} beyond four bytes`, { [name]: 2 ** 31 }, 'a catalog number is out of range'],
    ],
  ),
  ['that was cancelled', { outcome: 'cancelled' }, null],
  ['with an unknown outcome', { outcome: 'lost' }, 'the outcome is unknown'],
])('a settle %s', (_, change, fault) => {
  expect(settleFault({ ...settle, ...change } as Settle)).toBe(fault);
});

test('metering records are twelve integers each, and behind all of them item, kind and count of other units', () => {
  const other = { insured: 1, search_units: 2 };
  const items: Settle[] = [
    settle,
    {
      ...settle,
      ...{ model_no: 8, endpoint_no: 9, price_no: 10, estimated: true, outcome: 'cancelled' },
      units: { ...UNITS, other },
    },
    { ...settle, outcome: 'error' },
  ];
  expect(decode(meterNumbers(items))).toEqual({
    oid: OID.int4,
    values: [
      ...[1, 2, 3, 100, 20, 3, 4, 5, 6, 7, 0, 0],
      ...[8, 9, 10, 100, 20, 3, 4, 5, 6, 7, 1, 1],
      ...[1, 2, 3, 100, 20, 3, 4, 5, 6, 7, 2, 0],
      ...[2, 1, 2],
      ...[2, 7, 1],
    ],
  });
});

test('what is recorded without a charge keeps its units, is insured, and claims nothing', () => {
  const lost: Settle = { ...settle, claimed: true, units: { ...UNITS, other: { search_units: 2 } } };
  expect(withoutCharge(lost)).toEqual({
    ...settle,
    cost_micro_usd: microUsd(0),
    units: { ...UNITS, other: { search_units: 2, insured: 1 } },
  });
  expect(withoutCharge(lost)).not.toHaveProperty('claimed');
});
