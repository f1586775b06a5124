// Exports of organizations as the store and the archive see them.
import type { Context, Id } from '../kernel/index.ts';

export interface OrgExport {
  readonly id: Id<'org_export'>;
  readonly org_id: Id<'org'>;
  /** The person who asked for it. */
  readonly created_by: string;
  readonly created_at: Date;
  readonly expires_at: Date;
  readonly downloads: number;
  readonly last_downloaded_at: Date | null;
}

/** Where the rows of a file come from: the organization as an owner sees it, in each environment. */
export interface Source {
  readonly org_id: Id<'org'>;
  readonly live: Context;
  readonly test: Context;
}

/** Rows of a file, a page at a time: whoever reads takes one page and then asks for the next. */
export type Pages = AsyncIterable<readonly object[]>;

/** A file of lines of JSON. */
export interface RowFile {
  /** Without its ending. */
  readonly name: string;
  /** For a person who has nothing but the archive. */
  readonly about: string;
  /** The route whose fields its rows have; null where there is none. */
  readonly route: string | null;
  pages(source: Source): Pages;
}

/** A file that is stored as it is, such as a PDF. */
export interface WholeFile {
  readonly path: string;
  readonly bytes: Uint8Array;
}
