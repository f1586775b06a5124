import fc from 'fast-check';
import { expect, test } from 'vitest';
import { newRequestId, ulidMs } from '../../kernel/index.ts';
import {
  dateArray,
  int2Array,
  int4Array,
  int8Array,
  ulidDay,
  ulidToUuid,
  uuidArray,
  uuidToUlid,
} from './encode.ts';

test('a request id survives the way to a uuid and back, and both sort alike', () => {
  const uuid = fc
    .uint8Array({ minLength: 16, maxLength: 16 })
    .map((bytes) => Buffer.from(bytes).toString('hex'));
  fc.assert(
    fc.property(uuid, uuid, (a, b) => {
      expect(ulidToUuid(uuidToUlid(a))).toBe(a);
      expect(uuidToUlid(a) < uuidToUlid(b)).toBe(a < b);
    }),
  );
});

test('the day of a request id is that of its milliseconds', () => {
  const id = newRequestId();
  expect(ulidDay(id)).toBe(Math.floor(ulidMs(id) / 86_400_000));
});

test('every safe integer is written as the 64 bits that PostgreSQL reads', () => {
  fc.assert(
    fc.property(fc.maxSafeInteger(), (n) => {
      expect(int8Array([n]).readBigInt64BE(24)).toBe(BigInt(n));
    }),
  );
});

/** An array in PostgreSQL's binary form, by hand: dimensions, nulls, type, length, lower bound, then size and bytes. */
function arrayOf(oid: number, elements: readonly Buffer[]): Buffer {
  const int4 = (n: number) => Buffer.from([n >> 24, n >> 16, n >> 8, n]);
  const parts = elements.flatMap((one) => [int4(one.length), one]);
  const header = [1, 0, oid, elements.length, 1].map(int4);
  return Buffer.concat(elements.length === 0 ? [0, 0, oid].map(int4) : [...header, ...parts]);
}

test.each([
  ['bigint[]', int8Array([1, -2]), 20, ['0000000000000001', 'fffffffffffffffe']],
  ['int[]', int4Array([1, -2, 2_147_483_647]), 23, ['00000001', 'fffffffe', '7fffffff']],
  ['date[]', dateArray([1, -2]), 1082, ['00000001', 'fffffffe']],
  ['smallint[]', int2Array([1, 2, 515]), 21, ['0001', '0002', '0203']],
  [
    'uuid[]',
    uuidArray(['00000000000000000000000001', '7ZZZZZZZZZZZZZZZZZZZZZZZZZ']),
    2950,
    [`${'0'.repeat(31)}1`, 'f'.repeat(32)],
  ],
  ['bigint[] of nothing', int8Array([]), 20, []],
  ['int[] of nothing', int4Array([]), 23, []],
  ['smallint[] of nothing', int2Array([]), 21, []],
  ['uuid[] of nothing', uuidArray([]), 2950, []],
])('%s has the bytes that PostgreSQL documents', (_, bytes, oid, elements) => {
  const wanted = arrayOf(
    oid,
    elements.map((hex) => Buffer.from(hex, 'hex')),
  );
  expect(bytes.toString('hex')).toBe(wanted.toString('hex'));
});

test('hyphens of a uuid are passed over', () => {
  expect(uuidToUlid('01a223ca-f142-f8e0-0ece-9e99ed72005e')).toBe('01M8HWNWA2Z3G0XKMYK7PQ402Y');
});
