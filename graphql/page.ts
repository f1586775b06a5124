// A page of an operation as a Relay connection, with the cursors that REST uses, one per row.
import { cursorOf, ServiceError } from '@svc/core/kernel/index.ts';
import { limits } from './limits.ts';

/** A page of an operation; `paged` when it is not the first page. */
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

/** GraphQL names of the paging arguments. */
export const pageArgs = { limit: 'first', cursor: 'after' } as const;

/** The PageInfo of a page, as Relay defines it. */
export function pageInfoOf({ page, paged }: PageOfRows): PageInfoShape {
  const last = page.data.length - 1;
  return {
    endCursor: last < 0 ? null : cursorOf(page, last),
    startCursor: last < 0 ? null : cursorOf(page, 0),
    hasNextPage: page.next_cursor !== '',
    hasPreviousPage: paged,
  };
}

/** Cost of a page: the cost of its fields times the rows requested. */
export function pageCost(args: Record<string, unknown>): { field: number; multiplier: number } {
  const { first } = args;
  return { field: 1, multiplier: typeof first === 'number' ? first : limits.page_default };
}

/** The number of rows requested. @throws ServiceError invalid_request outside 1 to `most`. */
export function rowsAsked(args: Readonly<Record<string, unknown>>, most: number = limits.page_max): number {
  const first = args['first'] ?? limits.page_default;
  if (typeof first === 'number' && first >= 1 && first <= most) return first;
  throw new ServiceError('invalid_request', `first is from 1 to ${most}.`, { param: 'first' });
}
