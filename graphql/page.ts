// A page of an operation as a Relay connection: cursors are those of REST, one per row.
import { cursorOf, ServiceError } from '@svc/core/kernel/index.ts';
import { limits } from './limits.ts';

/** A page of an operation, and whether it is not the first. */
export interface PageOfRows {
  readonly page: { readonly data: readonly unknown[]; readonly next_cursor: string };
  readonly paged: boolean;
}

export interface PageInfoShape {
  readonly endCursor: string | null;
  readonly startCursor: string | null;
  readonly hasNextPage: boolean;
  readonly hasPreviousPage: boolean;
}

/** Wire names of paging arguments. */
export const pageArgs = { limit: 'first', cursor: 'after' } as const;

/** What Relay says of a page. */
export function pageInfoOf({ page, paged }: PageOfRows): PageInfoShape {
  const last = page.data.length - 1;
  return {
    endCursor: last < 0 ? null : cursorOf(page, last),
    startCursor: last < 0 ? null : cursorOf(page, 0),
    hasNextPage: page.next_cursor !== '',
    hasPreviousPage: paged,
  };
}

/** Cost of a page: its fields, times the rows asked for. */
export function pageCost(args: Record<string, unknown>): { field: number; multiplier: number } {
  const { first } = args;
  return { field: 1, multiplier: typeof first === 'number' ? first : limits.page_default };
}

/** The rows asked for. @throws ServiceError invalid_request outside 1 to `most`. */
export function rowsAsked(args: Readonly<Record<string, unknown>>, most: number = limits.page_max): number {
  const first = args['first'] ?? limits.page_default;
  if (typeof first === 'number' && first >= 1 && first <= most) return first;
  throw new ServiceError('invalid_request', `first is from 1 to ${most}.`, { param: 'first' });
}
