// A ZIP that is sent while it is made: a file after the other, a piece after the other, and never more than whoever reads has asked for.
import { PassThrough, Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { ZipFile } from 'yazl';

/** What is sent at a time. */
const PIECE = 65_536;

export interface Entry {
  readonly path: string;
  readonly pieces: AsyncIterable<Uint8Array>;
}

/** `pages` as lines of JSON in pieces, with `count` called for the rows of each page. */
export async function* piecesOf(
  pages: AsyncIterable<readonly object[]>,
  count: (rows: number) => void,
): AsyncGenerator<Uint8Array> {
  let lines: string[] = [];
  let size = 0;
  for await (const page of pages) {
    count(page.length);
    for (const row of page) {
      const line = `${JSON.stringify(row)}\n`;
      lines.push(line);
      size += line.length;
      if (size < PIECE) continue;
      yield Buffer.from(lines.join(''));
      lines = [];
      size = 0;
    }
  }
  if (size > 0) yield Buffer.from(lines.join(''));
}

/**
 * The archive of `entries`, made at `at`, in pieces. The next entry is begun when the one before has been read. Whoever stops reading
 * stops the entries too: no statement is made for them after that.
 */
export async function* archiveOf(entries: AsyncIterable<Entry>, at: Date): AsyncGenerator<Uint8Array> {
  const zip = new ZipFile();
  const output = new PassThrough();
  zip.outputStream.pipe(output);
  zip.on('error', (error: Error) => output.destroy(error));
  let open: Readable | null = null;
  const feed = async () => {
    for await (const { path, pieces } of entries) {
      open = Readable.from(pieces, { highWaterMark: 1 });
      zip.addReadStream(open, path, { mtime: at, mode: 0o100644 });
      await finished(open);
    }
    zip.end();
  };
  const fed = feed().catch((error: Error) => {
    output.destroy(error);
  });
  try {
    for await (const piece of output) yield piece as Uint8Array;
  } finally {
    output.destroy();
    (open as Readable | null)?.destroy();
    await fed;
  }
}
