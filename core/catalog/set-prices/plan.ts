// Whether a price can be set, and what it comes to: asked for when one is proposed, and again when it is confirmed.
import { type Context, type Db, type Id, milliNanoFromDecimal, ServiceError } from '../../kernel/index.ts';
import { lockCatalog } from '../store.ts';
import type { Catalog, Endpoint } from '../types.ts';
import type { FiledEndpoint } from './filed-endpoint.ts';
import {
  changedPrices,
  type EndpointPrices,
  hashOf,
  pricesOn,
  type RateChange,
  type RatePair,
  ratePairs,
  withSetPrices,
} from './rows.ts';
import { insertSetPrice, listSetPrices } from './store.ts';

const DAY_MS = 86_400_000;
/** Whole UTC days between today and the first day of a price that is higher. */
const RISE_NOTICE_DAYS = 7;
/** Nobody plans prices further ahead. */
const AHEAD_DAYS = 366;

/** What is asked for. */
export interface WantedPrice {
  readonly endpoint_id: string;
  /** `YYYY-MM-DD`: the UTC day from whose beginning on it is charged. */
  readonly from: string;
  readonly changes: readonly RateChange[];
}

/** A price as it would be set. */
export interface PlannedPrice {
  readonly endpoint: Endpoint;
  readonly filed: FiledEndpoint;
  readonly before: EndpointPrices;
  readonly after: EndpointPrices;
  readonly pairs: readonly RatePair[];
  /** Names `before`: what is set holds while the files give it. */
  readonly replaces: string;
  /** The first day from which these amounts can be charged, as things are. */
  readonly earliest: string;
  /** The day from which a price of the files follows it; null: none does. */
  readonly until: string | null;
}

const dayAfter = (today: string, days: number) =>
  new Date(Date.parse(today) + days * DAY_MS).toISOString().slice(0, 10);

const refusal = (param: string, message: string) => new ServiceError('invalid_request', message, { param });

function isDay(text: string): boolean {
  const ms = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(ms) && new Date(ms).toISOString().slice(0, 10) === text;
}

/** Refuses a day that is none, too near, too far, after the end of the model, or before another price that was set. */
function checkDay(
  { from }: WantedPrice,
  of: { earliest: string; today: string; rises: boolean; retires_at: string | null; later: string | null },
): void {
  const { earliest, today, rises, retires_at, later } = of;
  if (!isDay(from)) throw refusal('from', 'Expected a day such as 2026-01-31.');
  if (from < earliest)
    throw refusal(
      'from',
      rises
        ? `A higher price is announced ${RISE_NOTICE_DAYS} days ahead: the first day is ${earliest}.`
        : `The first day is ${earliest}, the next one in UTC.`,
    );
  if (from > dayAfter(today, AHEAD_DAYS)) throw refusal('from', 'That is more than a year ahead.');
  if (retires_at !== null && from >= retires_at) throw refusal('from', `The model retires on ${retires_at}.`);
  if (later !== null)
    throw refusal('from', `A price from ${later} on is set already. Choose that day or a later one.`);
}

function changed(before: EndpointPrices, changes: readonly RateChange[]): EndpointPrices {
  const made = changedPrices(before, changes);
  if ('prices' in made) return made.prices;
  const { place, member, reason } = made.fault;
  throw refusal(`changes[${place}].${member}`, reason);
}

const rateKey = ({ tier, from_prompt_tokens, kind }: RatePair) => `${tier} ${from_prompt_tokens} ${kind}`;

/** Whether an amount is above what is paid today and above what was to be paid on the day: a lower price can be taken back at once. */
function hasRise(pairs: readonly RatePair[], today: EndpointPrices): boolean {
  const paid = new Map(ratePairs(today, today).map((pair) => [rateKey(pair), pair.before]));
  return pairs.some((pair) => {
    const most = Math.max(...[pair.before, paid.get(rateKey(pair)) ?? '0'].map(milliNanoFromDecimal));
    return milliNanoFromDecimal(pair.after) > most;
  });
}

/**
 * What `wanted` comes to on top of the files and of what is set.
 * @throws ServiceError not_found, invalid_request with the field.
 */
export async function planPrice(
  db: Db,
  of: { catalog: Catalog; wanted: WantedPrice; now: Date },
): Promise<PlannedPrice> {
  const { catalog, wanted, now } = of;
  const today = now.toISOString().slice(0, 10);
  const { endpoint_id, from } = wanted;
  const filed = catalog.filed?.get(endpoint_id as Id<'endpoint'>);
  const endpoint = catalog.endpoints.get(endpoint_id);
  if (filed === undefined || endpoint === undefined)
    throw new ServiceError('not_found', 'No file of the catalog has this endpoint.', {
      param: 'endpoint_id',
    });
  const set = (await listSetPrices(db, endpoint_id)).get(endpoint_id as Id<'endpoint'>) ?? [];
  const { file, held } = withSetPrices(filed.file, set);
  const before = pricesOn(file, from);
  const after = changed(before, wanted.changes);
  const pairs = ratePairs(before, after);
  const rises = hasRise(pairs, pricesOn(file, today));
  const later = set.find((one) => held.has(one.set_no) && one.from > from)?.from ?? null;
  const earliest = dayAfter(today, rises ? RISE_NOTICE_DAYS : 1);
  checkDay(wanted, { earliest, today, rises, retires_at: filed.retires_at, later });
  const until = (file.scheduled ?? []).find((one) => one.from > from)?.from ?? null;
  return { endpoint, filed, before, after, pairs, replaces: hashOf(before), earliest, until };
}

/**
 * Sets a price that a second person confirmed, unless what it stood in the place of is another price by now: then the files, or
 * another proposal, have overtaken it.
 * @throws ServiceError state_conflict with the field of what was asked for.
 */
export async function setPrice(
  context: Context,
  asked: WantedPrice & { readonly replaces: string; readonly approval_id: Id<'approval'> },
): Promise<PlannedPrice> {
  await lockCatalog(context.db);
  const at = context.now();
  const catalog = context.services.catalog();
  const { replaces, approval_id } = asked;
  const { changes, from, endpoint_id } = asked;
  // Without the changes first: amounts that moved meanwhile are told as that, and not as a change that does not fit.
  const present = await planAgain(context.db, {
    catalog,
    wanted: { endpoint_id, from, changes: [] },
    now: at,
  });
  if (present.replaces !== replaces)
    throw new ServiceError('state_conflict', OVERTAKEN, {
      param: 'replaces',
      details: { state: 'overtaken' },
    });
  const planned = await planAgain(context.db, { catalog, wanted: { endpoint_id, from, changes }, now: at });
  const { endpoint, after: prices } = planned;
  await insertSetPrice(context.db, {
    endpoint_no: endpoint.endpoint_no,
    from,
    prices,
    replaces,
    approval_id,
    at,
  });
  return planned;
}

export const OVERTAKEN =
  'The prices of the endpoint are others than when this was proposed. Propose it again, on what they are now.';

/** What could not be proposed any more cannot be confirmed: the state of things has changed, not the request. */
async function planAgain(db: Db, of: Parameters<typeof planPrice>[1]): Promise<PlannedPrice> {
  try {
    return await planPrice(db, of);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const param = error.param ?? 'endpoint_id';
    throw new ServiceError('state_conflict', error.message, { param, details: { state: 'impossible' } });
  }
}
