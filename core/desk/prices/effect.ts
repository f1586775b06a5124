// What the calls of the last thirty days would have cost at another price: computed from their metering records by the price
// function, so that it is exact to the micro-USD.
import { type PlannedPrice, priceOfUse, selectPrice } from '../../catalog/index.ts';
import { type Context, type Db, monotonicMs, ServiceError } from '../../kernel/index.ts';
import { listMeteredAlike, type MeteredAlike, meteredUsage } from '../../ledger/index.ts';
import { price } from '../../pricing/index.ts';

const DAY_MS = 86_400_000;
const DAYS = 30;
/** Kinds of calls (alike in usage and price) that are counted at most, and for how long: an answer comes within a few seconds. */
const ALIKE_MAX = 200_000;
const TIME_MAX_MS = 4_000;

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

/** The effect of `planned` on the calls of the thirty days before `now`, the newest days first. */
export async function effectOf(context: Context, planned: Planned): Promise<PriceEffect> {
  const { db, shards } = context;
  const until = context.now();
  const since = new Date(until.getTime() - DAYS * DAY_MS);
  const costs = costsAt(db, planned);
  const started_ms = monotonicMs();
  const sums = { calls: 0, cost_micro_usd: 0, before_micro_usd: 0, after_micro_usd: 0 };
  let left = ALIKE_MAX;
  let from = until;
  while (from > since) {
    const day = { from: new Date(Math.max(from.getTime() - DAY_MS, since.getTime())), until: from };
    const found = await alikeOf({ shards, day, limit: left + 1 }, planned.endpoint.endpoint_no);
    // A day is counted whole or not at all.
    if (found.length > left) break;
    left -= found.length;
    for (const call of found) {
      const { before, after } = await costs(call);
      sums.calls += call.calls;
      sums.cost_micro_usd += call.calls * call.cost_micro_usd;
      const { before_micro_usd, after_micro_usd } = sums;
      const more = countable(() => ({ before: before_micro_usd + before, after: after_micro_usd + after }));
      sums.before_micro_usd = more.before;
      sums.after_micro_usd = more.after;
    }
    from = day.from;
    if (monotonicMs() - started_ms > TIME_MAX_MS) break;
  }
  return { from, until, complete: from <= since, ...sums };
}

async function alikeOf(
  { shards, day, limit }: { shards: Context['shards']; day: { from: Date; until: Date }; limit: number },
  endpoint_no: number,
): Promise<MeteredAlike[]> {
  const found: MeteredAlike[] = [];
  for (const name of shards.names)
    found.push(...(await listMeteredAlike(shards.at(name), { endpoint_no, ...day, limit })));
  return found;
}
