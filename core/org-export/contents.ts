// What is in an export, in the order in which it is sent: a text for people first, the manifest last.
import { type Context, Sha256 } from '../kernel/index.ts';
import type { OrgRecord } from '../orgs/index.ts';
import { type Entry, piecesOf } from './archive.ts';
import { exportsFile } from './exports-file.ts';
import { accountFiles } from './files/account.ts';
import { callFiles } from './files/calls.ts';
import { invoiceFiles, moneyFiles } from './files/money.ts';
import { resellerFiles } from './files/resellers.ts';
import { readmeText } from './readme-text.ts';
import type { OrgExport, RowFile } from './types.ts';
import { sourceOf } from './walk.ts';

/** Raised when a file changes so that a program that reads exports must change too. */
export const FORMAT = { name: 'svc-organization-export', version: 1 } as const;

/** Files of lines of JSON, in their order. */
const rowFiles: readonly RowFile[] = [
  ...accountFiles,
  exportsFile,
  ...moneyFiles,
  ...resellerFiles,
  ...callFiles,
];

interface Listed {
  readonly path: string;
  /** Null: no file of lines. */
  readonly rows: number | null;
  readonly bytes: number;
  readonly sha256: string;
}

interface About {
  readonly made: OrgExport;
  readonly org: Pick<OrgRecord, 'id' | 'slug' | 'name'>;
  /** Called before each file. @throws ServiceError when nothing may be read any more. */
  readonly check: () => Promise<void>;
}

const text = (words: string) => Buffer.from(words);
async function* one(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

/** The manifest: what a reader needs to see that the archive is whole and unchanged. */
function manifestOf(
  { made, org }: About,
  files: readonly Listed[],
  { began_at, ended_at }: { began_at: Date; ended_at: Date },
): string {
  const { id, created_by, created_at } = made;
  return `${JSON.stringify(
    {
      format: FORMAT.name,
      format_version: FORMAT.version,
      export_id: id,
      org: { id: org.id, slug: org.slug, name: org.name },
      created_by,
      created_at: created_at.toISOString(),
      began_at: began_at.toISOString(),
      ended_at: ended_at.toISOString(),
      files,
    },
    null,
    2,
  )}\n`;
}

/** The files of an export of the caller's organization. */
export async function* entriesOf(context: Context, about: About): AsyncGenerator<Entry> {
  const source = sourceOf(context);
  const began_at = context.now();
  const files: Listed[] = [];
  const listed = async function* (
    path: string,
    pieces: AsyncIterable<Uint8Array>,
    rows: () => number | null,
  ) {
    const hash = new Sha256();
    let bytes = 0;
    for await (const piece of pieces) {
      hash.add(piece);
      bytes += piece.length;
      yield piece;
    }
    files.push({ path, rows: rows(), bytes, sha256: hash.hex() });
  };
  const none = () => null;
  yield {
    path: 'README.txt',
    pieces: listed('README.txt', one(text(readmeText(about.org, rowFiles))), none),
  };
  for (const file of rowFiles) {
    await about.check();
    const path = `${file.name}.ndjson`;
    let rows = 0;
    const pieces = piecesOf(file.pages(source), (more) => {
      rows += more;
    });
    yield { path, pieces: listed(path, pieces, () => rows) };
  }
  for await (const { path, bytes } of invoiceFiles(source))
    yield { path, pieces: listed(path, one(bytes), none) };
  await about.check();
  const manifest = manifestOf(about, files, { began_at, ended_at: context.now() });
  yield { path: 'manifest.json', pieces: one(text(manifest)) };
}
