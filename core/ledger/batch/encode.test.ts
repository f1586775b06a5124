import fc from 'fast-check';
import { expect, test } from 'vitest';
import { newRequestId, ulidMs } from '../../kernel/index.ts';
import { int8Array, ulidDay, ulidToUuid, uuidToUlid } from './encode.ts';

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
