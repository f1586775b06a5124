// Rows of an organization in the order in which they became readable, also late ones, from a place that a reader names. Unlike
// the feed, which shows people what happens now, a tail leaves nothing out and goes on where a reader had stopped.
import { setTimeout as pause } from 'node:timers/promises';
import {
  type Environment,
  type Id,
  isRequestId,
  monotonicMs,
  nowMs,
  rowTime,
  ServiceError,
} from '../../kernel/index.ts';
import { isRefusal, type LimitSlot, type LimitStore } from '../../limits/index.ts';
import type { ListedRow, RowReader } from '../engine/types.ts';
import type { RowFilter } from '../store.ts';
import { viewRow } from '../view.ts';

interface TailWatch {
  readonly org_id: Id<'org'>;
  readonly environment: Environment;
  readonly filter: RowFilter;
  /** A request id; the tail begins with what came after it. Null or unknown: with what comes from now on. */
  readonly after: string | null;
  readonly interval_ms: number;
}

type Stored = Pick<ListedRow, 'request_id'> & { readonly stored_at: Date };

/** Rows that are sent before the reader is asked again. */
const PAGE = 100;
/**
 * A statement that stores rows may end this long after the time that they bear, so what came this long before the last place
 * is looked at again; what was sent of it is remembered.
 */
const SLACK_MS = 5_000;
/** A reader that was away catches up in steps of so much time, so that no statement is large; longer ones where nothing came. */
const STEP_MS = { least: 10_000, most: 3_600_000 } as const;
const KEEP_ALIVE_MS = 15_000;
const LIFE_MS = 60 * 60_000;

/** What has been sent lately, and how far the tail has come. */
class Place {
  #at: number;
  readonly #least: number;
  #step: number = STEP_MS.least;
  readonly #sent = new Map<string, number>();

  /** Begins at `at`; nothing is sent that was stored before `least`. */
  constructor(at: number, least: number) {
    this.#at = at;
    this.#least = least;
  }

  get from(): Date {
    return new Date(Math.max(this.#least, this.#at - SLACK_MS));
  }

  get sent(): readonly string[] {
    return [...this.#sent.keys()];
  }

  /** How far the next statement looks, when the engine says `now`. */
  next(now: number): number {
    return Math.min(now, this.#at + this.#step);
  }

  /** `rows` are on their way, and with them, unless `until` is null, all that was stored until then. */
  pass(rows: readonly Stored[], until: number | null): void {
    for (const { request_id, stored_at } of rows) this.#sent.set(request_id, stored_at.getTime());
    this.#at = Math.max(this.#at, until ?? rows.at(-1)?.stored_at.getTime() ?? 0);
    this.#step = rows.length > 0 ? STEP_MS.least : Math.min(STEP_MS.most, this.#step * 2);
    for (const [id, stored_ms] of this.#sent) if (stored_ms < this.#at - SLACK_MS) this.#sent.delete(id);
  }
}

async function begin(
  reader: RowReader,
  { org_id, environment, after }: TailWatch,
  now: number,
): Promise<Place> {
  const known = after !== null && isRequestId(after) ? after : null;
  const stored_at =
    known === null ? null : await reader.findArrival({ org_id, environment, request_id: known });
  if (stored_at === null || known === null) return new Place(now, now);
  const place = new Place(stored_at.getTime(), stored_at.getTime() - SLACK_MS);
  place.pass([{ request_id: known, stored_at }], null);
  return place;
}

/** Pages of rows, at most `PAGE` each; empty ones between, at each `interval_ms` without rows. */
async function* pages(
  reader: RowReader,
  { watch, place, now: clock }: { watch: TailWatch; place: Place; now: () => number },
  signal: AbortSignal,
): AsyncGenerator<readonly ListedRow[]> {
  while (!signal.aborted) {
    const now = clock();
    const until = place.next(now);
    const { org_id, environment, filter } = watch;
    const range = { from: place.from, until: new Date(until), sent: place.sent };
    const rows = await reader.listStored({ org_id, environment, filter, ...range, limit: PAGE });
    place.pass(rows, rows.length < PAGE ? until : null);
    yield rows;
    if (rows.length < PAGE && until === now) {
      await pause(watch.interval_ms, undefined, { signal }).catch(() => {});
    }
  }
}

/** The event of a row (docs/usage/requests.md#the-tail). */
function eventOf(row: ListedRow): string {
  return `id: ${row.request_id}\nevent: request\ndata: ${JSON.stringify(viewRow(row))}\n\n`;
}

/**
 * The tail as server-sent events: `request` for each row, a comment every 15 seconds without one, and `end` after an hour. At
 * least once: rows that became readable within five seconds before `after` may come again.
 */
export async function* tailEvents(
  reader: RowReader,
  watch: TailWatch,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const began = nowMs();
  let spoke = began;
  // The clock of the engine is asked once: an hour moves two clocks apart by less than what is looked at again.
  const read = (await reader.readClock()).getTime();
  const ahead_ms = read - monotonicMs();
  const now = () => Math.floor(monotonicMs() + ahead_ms);
  const place = await begin(reader, watch, now());
  // The reader has the headers once the place is known: whatever ends after them is in the tail.
  yield `: ${rowTime(began)}\n\n`;
  for await (const rows of pages(reader, { watch, place, now }, signal)) {
    if (rows.length > 0) {
      yield rows.map(eventOf).join('');
      spoke = nowMs();
    } else if (nowMs() - spoke >= KEEP_ALIVE_MS) {
      yield ': keep-alive\n\n';
      spoke = nowMs();
    }
    if (nowMs() - began >= LIFE_MS) break;
  }
  yield 'event: end\ndata: {}\n\n';
}

/** How many an organization may follow at once, over all processes that share limits. */
const TAILS_MAX = 5;

/** A place for one tail, to be given back. @throws ServiceError rate_limit_exceeded when all are taken. */
export async function enterTail(limits: LimitStore, org_id: Id<'org'>): Promise<LimitSlot> {
  const bucket = `t-${org_id}`;
  const rates = { rpm: null, tpm: null, concurrency: TAILS_MAX };
  const bounds = [{ scope: 'plan', bucket, subject: org_id, rates } as const];
  const entered = await limits.enter({ org_id: bucket, plan: 't-all', bounds });
  if (!isRefusal(entered)) return entered;
  throw new ServiceError(
    'rate_limit_exceeded',
    `An organization follows at most ${TAILS_MAX} tails at once. End one of them first.`,
    { details: { limit: 'streams', scope: 'org', limit_value: TAILS_MAX }, retry_after_ms: entered.reset_ms },
  );
}
