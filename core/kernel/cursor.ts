// Page cursors: a keyset sealed with eight bytes of HMAC and bound to route, organisation and filters.
// Nothing secret is inside; a check that fails means the first page, never an error.
import { equalBytes, hmacSha256 } from './crypto.ts';
import type { Context } from './operation.ts';

declare module './operation.ts' {
  interface Services {
    /** 32 bytes of the key ring; every use derives a key of its own (`deriveKey`). */
    readonly root_key: Uint8Array;
  }
}

interface CursorPlace {
  /** Milliseconds since the epoch, or a sequence number, of the last row of the page. */
  readonly at: number;
  /** Id of that row; empty where `at` alone is unique. */
  readonly id: string;
}

const VERSION = 1;
const TAG_BYTES = 8;

/** A 32-byte key for one purpose, so that no key serves two. */
export function deriveKey(root_key: Uint8Array, purpose: string): Buffer {
  return hmacSha256(root_key, `svc ${purpose}`);
}

function tag(key: Uint8Array, bound: string, payload: Uint8Array): Buffer {
  return hmacSha256(key, Buffer.concat([Buffer.from(`${bound}\n`), payload])).subarray(0, TAG_BYTES);
}

/** The cursor after the row at `place`; `bound` names route, organisation and filter set. */
function encodeCursor(key: Uint8Array, bound: string, place: CursorPlace): string {
  const payload = Buffer.from(JSON.stringify([VERSION, 'page', place.at, place.id]));
  return Buffer.concat([payload, tag(key, bound, payload)]).toString('base64url');
}

/** The place a cursor names, or null when it was not issued for `bound` (the caller then starts anew). */
function decodeCursor(key: Uint8Array, bound: string, text: string): CursorPlace | null {
  if (text === '' || text.length > 512) return null;
  const bytes = Buffer.from(text, 'base64url');
  if (bytes.length <= TAG_BYTES) return null;
  const payload = bytes.subarray(0, -TAG_BYTES);
  if (!equalBytes(bytes.subarray(-TAG_BYTES), tag(key, bound, payload))) return null;
  const [version, kind, at, id] = JSON.parse(payload.toString()) as [number, string, number, string];
  return version === VERSION && kind === 'page' ? { at, id } : null;
}

/** One page of a keyset walk. */
export interface Walk<Row> {
  /** Route, organisation and filter set: a cursor of another walk means the first page. */
  readonly bound: string;
  /** As the caller sent it. */
  readonly cursor: string | undefined;
  /** Rows of a page. */
  readonly limit: number;
  /** Rows strictly after `after` in the walk's order, at most `limit`: one more than the page has. */
  read(after: CursorPlace | null, limit: number): Promise<readonly Row[]>;
  placeOf(row: Row): CursorPlace;
}

/** The rows of a page and the cursor of the next one, "" on the last: one query, which reads a row more than is shown. */
export async function walkPage<Row>(
  context: Pick<Context, 'services'>,
  walk: Walk<Row>,
): Promise<{ rows: Row[]; next_cursor: string; cursorAt: (at: number) => string }> {
  const key = deriveKey(context.services.root_key, 'cursor');
  const found = await walk.read(decodeCursor(key, walk.bound, walk.cursor ?? ''), walk.limit + 1);
  const rows = found.slice(0, walk.limit);
  const last = rows.at(-1);
  const more = found.length > walk.limit && last !== undefined;
  const cursorAt = (at: number) => encodeCursor(key, walk.bound, walk.placeOf(rows[at] as Row));
  return { rows, next_cursor: more ? cursorAt(rows.length - 1) : '', cursorAt };
}
