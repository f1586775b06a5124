// Members of a ZIP archive: Inspect writes its logs as one. Only what such logs use: no encryption, no parts, no ZIP64.
import { inflateRawSync, zstdDecompressSync } from 'node:zlib';

const END = 0x06054b50;
const CENTRAL = 0x02014b50;
const LOCAL = 0x04034b50;
/** An archive may hold a comment of 64 KiB behind its end. */
const END_MAX = 22 + 65_535;
/** Bytes of a member once it is unpacked. */
const MEMBER_MAX = 268_435_456;

export function isZip(bytes: Buffer): boolean {
  return bytes.length > 4 && bytes.readUInt32LE(0) === LOCAL;
}

function endOf(bytes: Buffer): number {
  const from = Math.max(0, bytes.length - END_MAX);
  for (let at = bytes.length - 22; at >= from; at--) if (bytes.readUInt32LE(at) === END) return at;
  throw new Error('the archive has no end: it is not whole');
}

function unpack(method: number, packed: Buffer, name: string): Buffer {
  const limit = { maxOutputLength: MEMBER_MAX };
  if (method === 0) return packed;
  if (method === 8) return inflateRawSync(packed, limit);
  if (method === 93) return zstdDecompressSync(packed, limit);
  throw new Error(`${name} is packed by method ${method}, which is not known here`);
}

/** The members of an archive whose name `wanted` accepts. @throws Error where it is not whole. */
export function readZip(bytes: Buffer, wanted: (name: string) => boolean): Map<string, Buffer> {
  const end = endOf(bytes);
  const members = new Map<string, Buffer>();
  let at = bytes.readUInt32LE(end + 16);
  for (let left = bytes.readUInt16LE(end + 10); left > 0; left--) {
    if (bytes.readUInt32LE(at) !== CENTRAL) throw new Error('the list of the archive is not whole');
    const [method, size] = [bytes.readUInt16LE(at + 10), bytes.readUInt32LE(at + 20)];
    const [name_size, extra, comment] = [28, 30, 32].map((place) => bytes.readUInt16LE(at + place));
    const name = bytes.toString('utf8', at + 46, at + 46 + (name_size ?? 0));
    if (wanted(name)) {
      const local = bytes.readUInt32LE(at + 42);
      const start = local + 30 + bytes.readUInt16LE(local + 26) + bytes.readUInt16LE(local + 28);
      // A member that was written anew stands last.
      members.set(name, unpack(method, bytes.subarray(start, start + size), name));
    }
    at += 46 + (name_size ?? 0) + (extra ?? 0) + (comment ?? 0);
  }
  return members;
}
