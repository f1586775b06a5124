// A list of deliveries that was read, and deliveries that have moved since: what is shown of both. Pure.
import type { DeliveryRowFragment } from '../../api/gen/tools/graphql.ts';

/** Deliveries that moved and are remembered; the oldest movements are forgotten first. */
export const MOVED_MAX = 200;

type Row = Pick<DeliveryRowFragment, 'id' | 'event' | 'status' | 'attempts' | 'createdAt'>;

/** How far a delivery has come: attempts, then whether one is under way; an end is an end. */
function stageOf({ status, attempts }: Pick<Row, 'status' | 'attempts'>): number {
  if (status === 'QUEUED') return 2 * attempts;
  return status === 'DELIVERING' ? 2 * attempts + 1 : Number.POSITIVE_INFINITY;
}

/** Remembers that `row` moved; the newest movement stands last. */
export function remember<R extends Row>(moved: ReadonlyMap<R['id'], R>, row: R): ReadonlyMap<R['id'], R> {
  const next = new Map(moved);
  next.delete(row.id);
  next.set(row.id, row);
  for (const id of next.keys()) {
    if (next.size <= MOVED_MAX) break;
    next.delete(id);
  }
  return next;
}

/**
 * `read`, newest first, as it is now: of two states of a delivery the later one, with those that came since, and without what
 * `matches` no longer. One that moved and is older than all that was read stands on a page that nobody has opened.
 */
export function withMoved<R extends Row>(
  read: readonly R[],
  moved: ReadonlyMap<R['id'], R>,
  by: { matches: (row: R) => boolean; whole: boolean },
): R[] {
  const last = read.at(-1);
  const rows = new Map(read.map((row) => [row.id, row]));
  for (const row of moved.values()) {
    const known = rows.get(row.id);
    const is_below = !by.whole && last !== undefined && row.createdAt < last.createdAt;
    if (known === undefined ? !is_below : stageOf(row) > stageOf(known)) rows.set(row.id, row);
  }
  return [...rows.values()].filter(by.matches).sort((a, b) => newestFirst(a.createdAt, b.createdAt));
}

function newestFirst(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? 1 : -1;
}
