// Compares what the ledger charged with what the request rows say that calls cost, day by day and to the micro-USD.
import { readerOf, sumUsageByDay } from '../../analytics/index.ts';
import { type Context, type Environment, ServiceError } from '../../kernel/index.ts';
import { type CrossedDay, findPlace, listCrossed, sumDays } from '../../ledger/index.ts';
import type { Org } from '../../orgs/index.ts';
import { bookIn } from '../book.ts';
import { type DayUsage, dayAfter, daysBetween, daysOf, type ReconciliationDay } from './days.ts';

const DAYS_MAX = 92;
const DAYS_UNLESS_GIVEN = 30;
/**
 * How long after its day the settle of a call is looked for. A later one shows as a variance of both days: somebody
 * should look at it.
 */
const LATE_DAYS = 7;

interface Range {
  readonly from: string;
  readonly to: string;
}

/**
 * The days that are asked for, `YYYY-MM-DD`, both included: thirty up to `to`, and up to today, unless told otherwise.
 * @throws ServiceError invalid_request, range_too_long.
 */
export function rangeOf(asked: { from?: string; to?: string }, now: Date): Range {
  const to = asked.to ?? now.toISOString().slice(0, 10);
  const from = asked.from ?? dayAfter(to, 1 - DAYS_UNLESS_GIVEN);
  const days = daysBetween(from, to);
  if (days < 1) {
    throw new ServiceError('invalid_request', '`from` must not be after `to`.', {
      param: 'from',
      details: { faults: [{ param: 'from', reason: 'range', message: '`from` must not be after `to`.' }] },
    });
  }
  if (days > DAYS_MAX) {
    throw new ServiceError('range_too_long', `A reconciliation has at most ${DAYS_MAX} days.`, {
      param: 'from',
      details: { days_max: DAYS_MAX },
    });
  }
  return { from, to };
}

function startOf(day: string): Date {
  return new Date(`${day}T00:00:00.000Z`);
}

/** Moves each call from the day that it began to the day that it was settled, where the two differ. */
function bySettle(
  usage: Map<string, DayUsage>,
  crossed: readonly CrossedDay[],
  costs: ReadonlyMap<string, number>,
): void {
  for (const { request_id, call_day, settled_day } of crossed) {
    const cost = costs.get(request_id);
    if (cost === undefined) continue;
    const move = (day: string, sign: 1 | -1) => {
      const { usage_micro, requests } = usage.get(day) ?? { usage_micro: 0, requests: 0 };
      usage.set(day, { usage_micro: usage_micro + sign * cost, requests: requests + sign });
    };
    move(call_day, -1);
    move(settled_day, 1);
  }
}

interface Wanted extends Range {
  readonly org: Org;
  readonly environment: Environment;
}

/** Cost and number of calls by the UTC day of their settle; what was written off is no cost of a row. */
async function readUsage(
  context: Context,
  { org, environment, from, to }: Wanted,
  crossed: readonly CrossedDay[],
): Promise<Map<string, DayUsage>> {
  const reader = readerOf(context);
  const sums = await sumUsageByDay(reader, {
    ...{ org_id: org.id, environment },
    ...{ from: startOf(from), to: startOf(dayAfter(to, 1)) },
  });
  const usage = new Map<string, DayUsage>(
    sums.map(({ bucket, cost_micro, requests }) => [
      bucket.toISOString().slice(0, 10),
      { usage_micro: cost_micro, requests },
    ]),
  );
  const request_ids = crossed.map(({ request_id }) => request_id);
  bySettle(usage, crossed, await reader.readCosts({ org_id: org.id, request_ids }));
  return usage;
}

/**
 * The days of a book. Calls count on the day of their settle, as in the ledger. `analytics` false: the request rows
 * cannot be read, and nothing was compared.
 */
export async function reconcile(
  context: Context,
  wanted: Wanted,
): Promise<{ days: ReconciliationDay[]; analytics: boolean }> {
  const { org, environment, from, to } = wanted;
  const ledger = context.shards.at(org.shard);
  const book_id = bookIn(org, environment);
  const place = (day: string) => findPlace(ledger, { book_id, at: startOf(day) });
  const [first, last, late] = await Promise.all([
    place(from),
    place(dayAfter(to, 1)),
    place(dayAfter(to, 1 + LATE_DAYS)),
  ]);
  const after = { book_id, after_seq: first.seq };
  const movements = await sumDays(ledger, { ...after, until_seq: last.seq });
  const crossed = await listCrossed(ledger, { ...after, until_seq: late.seq });
  const facts = { from, to, opening_micro: first.balance_micro, movements };
  try {
    const usage = await readUsage(context, wanted, crossed);
    return { days: daysOf({ ...facts, usage }), analytics: true };
  } catch (error) {
    context.log.warn({ error }, 'usage cannot be read for a reconciliation');
    return { days: daysOf({ ...facts, usage: null }), analytics: false };
  }
}
