// Arrays in PostgreSQL's binary form: `pg` sends a Buffer as a binary parameter, which costs both sides about a
// third less than array literals (ledger measurements: 2.0 against 2.7 to 3.7 µs per settle and server).
import { CROCKFORD } from '../../kernel/index.ts';

const DECODE = new Int8Array(128).fill(-1);
for (let i = 0; i < 32; i++) DECODE[CROCKFORD.charCodeAt(i)] = i;

const OID = { int8: 20, int4: 23, date: 1082, uuid: 2950 } as const;
const HEADER = 20;

/** An array value of `n` elements of `size` bytes with its header written; elements start at byte 20. */
function arrayOf(n: number, oid: number, size: number): [Buffer, DataView] {
  const buffer = Buffer.from(new ArrayBuffer(n === 0 ? 12 : HEADER + n * (4 + size)));
  const view = new DataView(buffer.buffer);
  view.setInt32(0, n === 0 ? 0 : 1);
  view.setInt32(8, oid);
  if (n > 0) {
    view.setInt32(12, n);
    view.setInt32(16, 1);
  }
  return [buffer, view];
}

/** `bigint[]`; the numbers must be safe integers. */
export function int8Array(values: readonly number[]): Buffer {
  const n = values.length;
  const [buffer, view] = arrayOf(n, OID.int8, 8);
  for (let i = 0, at = HEADER; i < n; i++, at += 12) {
    const value = values[i]!;
    view.setInt32(at, 8);
    view.setInt32(at + 4, Math.floor(value / 4_294_967_296));
    view.setUint32(at + 8, value >>> 0);
  }
  return buffer;
}

/** `int[]`, or with `oid` another type of four bytes. */
export function int4Array(values: readonly number[], oid: number = OID.int4): Buffer {
  const n = values.length;
  const [buffer, view] = arrayOf(n, oid, 4);
  for (let i = 0, at = HEADER; i < n; i++, at += 8) {
    view.setInt32(at, 4);
    view.setInt32(at + 4, values[i]!);
  }
  return buffer;
}

/** `date[]` from days since 2000-01-01. */
export function dateArray(days: readonly number[]): Buffer {
  return int4Array(days, OID.date);
}

/** `smallint[]`. */
export function int2Array(values: readonly number[]): Buffer {
  const n = values.length;
  const [buffer, view] = arrayOf(n, 21, 2);
  for (let i = 0, at = HEADER; i < n; i++, at += 6) {
    view.setInt32(at, 2);
    view.setInt16(at + 4, values[i]!);
  }
  return buffer;
}

/** `uuid[]` from ULIDs that have the shape of one. */
export function uuidArray(ulids: readonly string[]): Buffer {
  const n = ulids.length;
  const [buffer, view] = arrayOf(n, OID.uuid, 16);
  for (let i = 0, at = HEADER; i < n; i++, at += 20) {
    view.setInt32(at, 16);
    writeUlid(ulids[i]!, buffer, at + 4);
  }
  return buffer;
}

/** Writes the 128 bits of `ulid` at `at`. */
function writeUlid(ulid: string, buffer: Buffer, at: number): void {
  let acc = DECODE[ulid.charCodeAt(0)]!;
  let bits = 3;
  let to = at;
  for (let i = 1; i < 26; i++) {
    acc = ((acc << 5) | DECODE[ulid.charCodeAt(i)]!) & 0xffff;
    bits += 5;
    if (bits >= 8) {
      bits -= 8;
      buffer[to++] = (acc >> bits) & 255;
    }
  }
}

/** A ULID as the text of a `uuid` (32 hexadecimal digits, which PostgreSQL accepts). */
export function ulidToUuid(ulid: string): string {
  const buffer = Buffer.allocUnsafe(16);
  writeUlid(ulid, buffer, 0);
  return buffer.toString('hex');
}

/** The ULID whose 128 bits a `uuid` holds; hyphens are ignored. */
export function uuidToUlid(uuid: string): string {
  let rest = BigInt(`0x${uuid.replaceAll('-', '')}`);
  let text = '';
  for (let i = 0; i < 26; i++) {
    text = CROCKFORD[Number(rest & 31n)] + text;
    rest >>= 5n;
  }
  return text;
}

/** UTC day of a ULID, in days since 1970. */
export function ulidDay(ulid: string): number {
  let ms = 0;
  for (let i = 0; i < 10; i++) ms = ms * 32 + DECODE[ulid.charCodeAt(i)]!;
  return Math.floor(ms / 86_400_000);
}
