// What the calls of the last thirty days would have cost at another price: computed from their metering records by the price
// function, so that it is exact to the micro-USD.
import { setImmediate } from 'node:timers/promises';
import { type PlannedPrice, priceOfUse, selectPrice } from '../../catalog/index.ts';
import { type Context, type Db, monotonicMs, ServiceError } from '../../kernel/index.ts';
import { findSpanOf, listMeteredAlike, type MeteredAlike, meteredUsage } from '../../ledger/index.ts';
import { price } from '../../pricing/index.ts';

const DAY_MS = 86_400_000;
const DAYS = 30;
/** How long calls are counted: an answer comes within about so long. */
const TIME_MAX_MS = 2_000;
/** Calls of a ledger that one statement reads, of all endpoints; more where that takes less than `SLICE_MS`. */
const ROWS_MIN = 10_000;
const ROWS_MAX = 160_000;
const SLICE_MS = 100;
const CALLS_AT_ONCE = 1_000;

/** Sums in micro-USD of the calls that began in a span. */
export interface PriceEffect {
  readonly from: Date;
  readonly until: Date;
  /** All of the thirty days; false: there are more calls than are counted, and `from` says since when. */
  readonly complete: boolean;
  readonly calls: number;
  /** What they cost, at whichever prices they had. */
  readonly cost_micro_usd: number;
  /** What they would have cost at the prices of before, and at those that are proposed. */
  readonly before_micro_usd: number;
  readonly after_micro_usd: number;
}

/** What `work` sums. @throws ServiceError invalid_request where that passes 2^53-1, as at a price with a comma in the wrong place. */
function countable(work: () => { before: number; after: number }): { before: number; after: number } {
  try {
    const sums = work();
    if (Number.isSafeInteger(sums.before) && Number.isSafeInteger(sums.after)) return sums;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  throw new ServiceError(
    'invalid_request',
    'At these prices the calls of thirty days cost more than can be counted.',
    {
      param: 'changes',
    },
  );
}

type Planned = Pick<PlannedPrice, 'endpoint' | 'filed' | 'before' | 'after'>;
/** What calls that used this cost before and after, by the price that they had. */
type Costs = (call: MeteredAlike) => Promise<{ before: number; after: number }>;

/** Prices of tiers, of resellers and of own keys are made of the new ones as the catalog makes them. */
function costsAt(db: Db, { endpoint, filed, before, after }: Planned): Costs {
  const versions = new Map<number, ReturnType<typeof versionsOf>>();
  async function versionsOf(price_no: number) {
    const own = await selectPrice(db, price_no);
    if (own === null) throw new Error(`a metering record names price ${price_no}, which is not there`);
    const { id, endpoint_id, use } = own;
    const at = (prices: Planned['before']) => {
      const content = priceOfUse(prices, use, filed.markup_bps);
      // A tier that the endpoint has no more costs what it cost.
      return content === null ? own : { id, price_no, endpoint_id, ...content };
    };
    return { before: at(before), after: at(after) };
  }
  return async (call) => {
    const { price_no } = call;
    const known = versions.get(price_no) ?? versionsOf(price_no);
    versions.set(price_no, known);
    const of = await known;
    const { usage, insured } = meteredUsage(call);
    if (insured) return { before: 0, after: 0 };
    if (of.before.endpoint_id !== endpoint.id) throw new Error(`price ${price_no} is of another endpoint`);
    const costOf = (version: typeof of.before) => call.calls * price(usage, version).total_micro_usd;
    return countable(() => ({ before: costOf(of.before), after: costOf(of.after) }));
  };
}

/** A span that is counted whole, by what it took: the next one takes about as long. */
interface Slice {
  readonly from: Date;
  readonly found: readonly MeteredAlike[];
}

/** The calls of an endpoint before `until`, back to where a ledger has more than `rows` calls of all endpoints, or to `since`. */
async function sliceOf(
  { shards }: Context,
  of: { endpoint_no: number; since: Date; until: Date; rows: number },
): Promise<Slice> {
  const { endpoint_no, since, until, rows } = of;
  const ledgers = shards.names.map((name) => shards.at(name));
  const starts = await Promise.all(ledgers.map((ledger) => findSpanOf(ledger, { from: since, until, rows })));
  const from = new Date(Math.max(...starts.map(Number)));
  const found = await Promise.all(
    ledgers.map((ledger) => listMeteredAlike(ledger, { endpoint_no, from, until })),
  );
  return { from, found: found.flat() };
}

type Sums = { -readonly [K in 'calls' | `${'cost' | 'before' | 'after'}_micro_usd`]: number };

async function addTo(sums: Sums, found: readonly MeteredAlike[], costs: Costs): Promise<void> {
  for (const [place, call] of found.entries()) {
    // Calls of customers may run in this process.
    if (place % CALLS_AT_ONCE === CALLS_AT_ONCE - 1) await setImmediate();
    const { before, after } = await costs(call);
    sums.calls += call.calls;
    sums.cost_micro_usd += call.calls * call.cost_micro_usd;
    const { before_micro_usd, after_micro_usd } = sums;
    const more = countable(() => ({ before: before_micro_usd + before, after: after_micro_usd + after }));
    sums.before_micro_usd = more.before;
    sums.after_micro_usd = more.after;
  }
}

/**
 * The effect of `planned` on the calls of the thirty days before `now`, the newest first: back to `from`, where the time is up. Each
 * statement reads a number of calls that is given, whatever a day has.
 */
export async function effectOf(
  context: Context,
  planned: Planned,
  time_max_ms = TIME_MAX_MS,
): Promise<PriceEffect> {
  const until = context.now();
  const since = new Date(until.getTime() - DAYS * DAY_MS);
  const costs = costsAt(context.db, planned);
  const { endpoint_no } = planned.endpoint;
  const started_ms = monotonicMs();
  const sums: Sums = { calls: 0, cost_micro_usd: 0, before_micro_usd: 0, after_micro_usd: 0 };
  let rows = ROWS_MIN;
  let from = until;
  while (from > since) {
    const slice_ms = monotonicMs();
    const slice = await sliceOf(context, { endpoint_no, since, until: from, rows });
    await addTo(sums, slice.found, costs);
    from = slice.from;
    const now_ms = monotonicMs();
    const took_ms = now_ms - slice_ms;
    if (now_ms - started_ms + took_ms > time_max_ms) break;
    if (took_ms < SLICE_MS) rows = Math.min(rows * 2, ROWS_MAX);
    else if (took_ms > 3 * SLICE_MS) rows = Math.max(rows / 2, ROWS_MIN);
  }
  return { from, until, complete: from <= since, ...sums };
}
