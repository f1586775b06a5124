// The archive as a stream: whole for another program, no faster than it is read, and over when its reader goes.
import { setImmediate as turn } from 'node:timers/promises';
import { promisify } from 'node:util';
import { deflateRaw } from 'node:zlib';
import { expect, test } from 'vitest';
import { unpack } from '../../test/support/programs/unpack.ts';
import { secureBytes } from '../kernel/index.ts';
import { archiveOf, type Entry, piecesOf } from './archive.ts';

const deflate = promisify(deflateRaw);
const AT = new Date('2026-11-27T10:00:00Z');
/** So many rounds of the event loop that whatever is ready to run has run. */
const ROUNDS = 300;

async function* entries(...given: readonly (readonly [string, AsyncIterable<Uint8Array>])[]) {
  for (const [path, pieces] of given) yield { path, pieces } satisfies Entry;
}
async function* pieces(count: number, made: () => void = () => {}): AsyncGenerator<Uint8Array> {
  for (let n = 0; n < count; n++) {
    made();
    yield secureBytes(65_536);
  }
}
async function read(archive: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const read: Uint8Array[] = [];
  for await (const piece of archive) read.push(piece);
  return Buffer.concat(read);
}

test('another program unpacks what was packed, empty files and names beyond ASCII too', async () => {
  async function* pages() {
    yield [{ n: 1, word: 'Größe' }, { n: 2 }];
    yield [];
    yield [{ n: 3 }];
  }
  async function* nothing(): AsyncGenerator<readonly object[]> {
    yield [];
  }
  let rows = 0;
  const count = (more: number) => {
    rows += more;
  };
  const archive = archiveOf(
    entries(
      ['lines.ndjson', piecesOf(pages(), count)],
      ['empty.ndjson', piecesOf(nothing(), count)],
      ['invoices/Größe 1.pdf', pieces(3)],
    ),
    AT,
  );
  const files = await unpack(await read(archive));
  expect([...files.keys()]).toEqual(['lines.ndjson', 'empty.ndjson', 'invoices/Größe 1.pdf']);
  expect(files.get('lines.ndjson')?.toString()).toBe('{"n":1,"word":"Größe"}\n{"n":2}\n{"n":3}\n');
  expect(files.get('empty.ndjson')?.length).toBe(0);
  expect(files.get('invoices/Größe 1.pdf')?.length).toBe(3 * 65_536);
  expect(rows).toBe(3);
});

test('a page of many rows becomes pieces of a bounded size', async () => {
  async function* pages() {
    yield Array.from({ length: 5_000 }, (_, n) => ({ n, text: 'x'.repeat(100) }));
  }
  const sizes: number[] = [];
  for await (const piece of piecesOf(pages(), () => {})) sizes.push(piece.length);
  expect(sizes.length).toBeGreaterThan(5);
  expect(Math.max(...sizes)).toBeLessThan(66_000);
});

/** Until `count` stays the same while as much is compressed as `archiveOf` may have under way, by the same threads. */
async function still(count: () => number): Promise<void> {
  for (let before = -1; before !== count(); ) {
    before = count();
    for (let n = 0; n < 20; n++) await deflate(secureBytes(65_536));
    for (let round = 0; round < ROUNDS; round++) await turn();
  }
}

test('nothing is made ahead of a reader who does not read', async () => {
  let made = 0;
  const archive = archiveOf(entries(['a', pieces(500, () => made++)]), AT);
  await archive.next();
  await still(() => made);
  const ahead = made;
  expect(ahead).toBeLessThan(20);
  await still(() => made);
  expect(made).toBe(ahead);
  let rest = 0;
  for await (const piece of archive) rest += piece.length;
  expect(made).toBe(500);
  expect(rest).toBeGreaterThan(499 * 65_536);
});

test('when the reader goes, the entry that is open ends and no other begins', async () => {
  const seen: string[] = [];
  async function* watched(): AsyncGenerator<Uint8Array> {
    try {
      yield* pieces(1_000);
    } finally {
      seen.push('closed');
    }
  }
  async function* listed() {
    try {
      for (const path of ['a', 'b']) {
        seen.push(path);
        yield { path, pieces: watched() };
      }
    } finally {
      seen.push('over');
    }
  }
  const archive = archiveOf(listed(), AT);
  await archive.next();
  await archive.return(undefined);
  expect(seen).toEqual(['a', 'closed', 'over']);
});

test('a file that fails fails the archive, which then has no end that a program would take for whole', async () => {
  async function* broken(): AsyncGenerator<Uint8Array> {
    yield* pieces(3);
    throw new Error('the database is away');
  }
  const got: Uint8Array[] = [];
  const reading = async () => {
    for await (const piece of archiveOf(entries(['a', pieces(1)], ['b', broken()]), AT)) got.push(piece);
  };
  await expect(reading()).rejects.toThrow('the database is away');
  await expect(unpack(Buffer.concat(got))).rejects.toThrow('BadZipFile');
});
