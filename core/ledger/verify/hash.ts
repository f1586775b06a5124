// The bytes that a block's hash covers, written down once more from the format alone: big-endian integers, arrays as
// PostgreSQL sends them (one dimension, no nulls), times in microseconds since 2000-01-01.
import { sha256Hex } from '../../kernel/index.ts';
import type { Row } from './store.ts';

const OID_INT4 = 23;
const OID_INT8 = 20;
const OID_UUID = 2950;
const EPOCH_2000_MICROS = 946_684_800_000_000n;
/** Column of the first of the twelve metered numbers in a row of `meter`. */
const FIRST_NUMBER = 7;
/** Column of the other units, as PostgreSQL writes an array; null for most calls. */
const OTHER_UNITS = 19;

/** Head of a book without blocks. */
export const genesis = '0'.repeat(64);

/** UTC day (`YYYY-MM-DD`) of a request id kept as uuid. */
export function ulidDayOf(uuid: string): string {
  const ms = Number.parseInt(uuid.slice(0, 8) + uuid.slice(9, 13), 16);
  return new Date(ms).toISOString().slice(0, 10);
}

function int8(value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(value);
  return bytes;
}

function int4(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  // What is no such integer was tampered with, and must not wrap around into one that was hashed: none is negative.
  bytes.writeInt32BE((value | 0) === value ? value : -1);
  return bytes;
}

function array(oid: number, elements: readonly Buffer[]): Buffer {
  const header = Buffer.alloc(20);
  header.writeInt32BE(1, 0);
  header.writeInt32BE(oid, 8);
  header.writeInt32BE(elements.length, 12);
  header.writeInt32BE(1, 16);
  const parts: Buffer[] = [header];
  for (const element of elements) {
    const length = Buffer.alloc(4);
    length.writeInt32BE(element.length);
    parts.push(length, element);
  }
  return Buffer.concat(parts);
}

interface Common {
  readonly head: string;
  readonly book: string;
  readonly no: bigint;
  readonly first: bigint;
  readonly at: bigint;
  /** Balance before the block. */
  readonly before: bigint;
}

function opening({ head, book, no, first, before, at }: Common): Buffer[] {
  return [
    Buffer.from(head, 'hex'),
    int8(BigInt(book)),
    int8(no),
    int8(first),
    int8(before),
    int8(at - EPOCH_2000_MICROS),
  ];
}

/** Kind and count, kind and count ... of the other units of a metering record; null where it has none. */
export function otherUnitsOf(row: Row): readonly number[] | null {
  const text = row[OTHER_UNITS] ?? null;
  return text === null ? null : text.slice(1, -1).split(',').map(Number);
}

/** Other units as a block's hash covers them: place of the record in its block, and its pairs. */
function otherUnits(meters: readonly Row[]): Buffer[] {
  return meters.flatMap((row, i) => {
    const units = otherUnitsOf(row);
    return units === null ? [] : [int4(i + 1), array(OID_INT4, units.map(int4))];
  });
}

/** Hash of a block of settles: request ids, charges, costs and the twelve numbers of each metering record, other units. */
export function settleHash(of: Common & { meters: readonly Row[]; charges: readonly bigint[] }): string {
  const { meters, charges } = of;
  const numbers: Buffer[] = [];
  for (const row of meters) {
    for (let i = 0; i < 12; i++) numbers.push(int4(Number(row[FIRST_NUMBER + i])));
  }
  return sha256Hex(
    Buffer.concat([
      ...opening(of),
      array(
        OID_UUID,
        meters.map((row) => Buffer.from(row[2]!.replaceAll('-', ''), 'hex')),
      ),
      array(OID_INT8, charges.map(int8)),
      array(
        OID_INT8,
        meters.map((row) => int8(BigInt(row[4]!))),
      ),
      array(OID_INT4, numbers),
      ...otherUnits(meters),
    ]),
  );
}

/** The terms of a lot as the hash of its credit covers them; `expires` in microseconds since 1970, null: never. */
export function lotTerms(lot: { id: string; isGrant: boolean; expires: bigint | null }): Buffer {
  const expires = lot.expires === null ? 2n ** 63n - 1n : lot.expires - EPOCH_2000_MICROS;
  return Buffer.concat([int8(expires), Buffer.from([lot.isGrant ? 1 : 0]), Buffer.from(lot.id)]);
}

/** What the hash covers besides of a lot that brings back what a debit took of another. */
export function originTerms(lot: { amount: bigint; origin: bigint }): Buffer {
  return Buffer.concat([int8(lot.amount), int8(lot.origin)]);
}

/** Hash of a block with one entry that is not a call: amount, kind, reference, and the terms of a credit's lot. */
export function movementHash(
  of: Common & {
    amount: bigint;
    kind: string;
    ref_type: string | null;
    ref_id: string | null;
    terms: Buffer;
  },
): string {
  const kind = Buffer.alloc(2);
  kind.writeInt16BE(Number(of.kind));
  return sha256Hex(
    Buffer.concat([
      ...opening(of),
      int8(of.amount),
      kind,
      Buffer.from(`${of.ref_type} ${of.ref_id}`),
      of.terms,
    ]),
  );
}
