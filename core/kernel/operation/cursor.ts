// Page cursors: the sort key of the last row, with eight bytes of HMAC, valid only for one route, organization and
// filter set. A cursor holds no secret. One that fails the check means the first page; it is never an error.
import { equalBytes, hmacSha256 } from '../crypto.ts';
import { deriveKey, deriveKeys, type RootKeyRing } from '../secrets/keyring.ts';
import type { Context } from './operation.ts';

declare module './operation.ts' {
  interface Services {
    /** The key ring; every use derives its own key from it (`deriveKey`). */
    readonly root_key: RootKeyRing;
  }
}

interface CursorPlace {
  /** Of the last row of the page: milliseconds since the epoch, or a sequence number. */
  readonly at: number;
  /** Id of that row; empty where `at` alone is unique. */
  readonly id: string;
}

const VERSION = 1;
const TAG_BYTES = 8;

function tag(key: Uint8Array, bound: string, payload: Uint8Array): Buffer {
  return hmacSha256(key, Buffer.concat([Buffer.from(`${bound}\n`), payload])).subarray(0, TAG_BYTES);
}

/** The cursor that continues after the row at `place`; `bound` names the route, organization and filter set. */
function encodeCursor(key: Uint8Array, bound: string, place: CursorPlace): string {
  const payload = Buffer.from(JSON.stringify([VERSION, 'page', place.at, place.id]));
  return Buffer.concat([payload, tag(key, bound, payload)]).toString('base64url');
}

/**
 * The place that a cursor names; null when it was not issued for `bound`, and the caller starts at the first page. One that
 * was issued under a former key still counts.
 */
function decodeCursor(keys: readonly Uint8Array[], bound: string, text: string): CursorPlace | null {
  if (text === '' || text.length > 512) return null;
  const bytes = Buffer.from(text, 'base64url');
  if (bytes.length <= TAG_BYTES) return null;
  const payload = bytes.subarray(0, -TAG_BYTES);
  const given = bytes.subarray(-TAG_BYTES);
  if (!keys.some((key) => equalBytes(given, tag(key, bound, payload)))) return null;
  const [version, kind, at, id] = JSON.parse(payload.toString()) as [number, string, number, string];
  return version === VERSION && kind === 'page' ? { at, id } : null;
}

/** One page of a list that is read in the order of its sort key. */
export interface Walk<Row> {
  /** Route, organization and filter set; a cursor that was issued for another value means the first page. */
  readonly bound: string;
  /** The cursor that the caller sent. */
  readonly cursor: string | undefined;
  /** Number of rows on a page. */
  readonly limit: number;
  /**
   * Reads at most `limit` rows strictly after `after`, in the order of the list. `limit` is one more than the page
   * has.
   */
  read(after: CursorPlace | null, limit: number): Promise<readonly Row[]>;
  placeOf(row: Row): CursorPlace;
}

/**
 * The rows of a page, and the cursor of the next page ("" on the last). One query reads one row more than it returns,
 * to see whether another page follows.
 */
export async function walkPage<Row>(
  context: Pick<Context, 'services'>,
  walk: Walk<Row>,
): Promise<{ rows: Row[]; next_cursor: string; cursorAt: (at: number) => string }> {
  const { root_key } = context.services;
  const key = deriveKey(root_key, 'cursor');
  const from = decodeCursor(deriveKeys(root_key, 'cursor'), walk.bound, walk.cursor ?? '');
  const found = await walk.read(from, walk.limit + 1);
  const rows = found.slice(0, walk.limit);
  const last = rows.at(-1);
  const more = found.length > walk.limit && last !== undefined;
  const cursorAt = (at: number) => encodeCursor(key, walk.bound, walk.placeOf(rows[at] as Row));
  return { rows, next_cursor: more ? cursorAt(rows.length - 1) : '', cursorAt };
}
