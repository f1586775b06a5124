// What organizations are told of the catalog: prices that changed, and models that are deprecated. A change is noted in the
// transaction that gives its price a number, so that of several processes that load it one notes it, and one that dies
// notes nothing. Who is told is not asked here: a catalog with many changes is loaded as fast as any.
import { canonicalJson, type Db } from '../../kernel/index.ts';
import { OWN_KEY, type PriceContent, STANDARD, TEST } from '../build.ts';
import { type RateKind, rateKinds } from '../kinds.ts';
import type { KnownModel, Repriced } from '../store.ts';
import type { ComingPrice, Model, Rates } from '../types.ts';
import { addDeprecations, insertNews, type NewNews, selectDeprecations, withoutKnown } from './store.ts';

const SUMMARY_MAX = 500;

/** Nano-USD per unit as USD per million units, in the fewest digits. */
const usd = (nano: number | undefined) => (nano === undefined ? 'none' : `${nano / 1_000}`);

function rateParts(before: Rates, after: Rates): string[] {
  return rateKinds
    .filter((kind: RateKind) => before[kind] !== after[kind])
    .map((kind) => `${kind} ${usd(before[kind])} → ${usd(after[kind])}`);
}

/** What callers pay, or what their fee is a share of where they bring their own key. */
const basisOf = ({ rates, bands, list, fee_bps }: PriceContent) =>
  fee_bps === undefined || list === undefined ? { rates, bands } : list;

/** What differs between two prices, for people; nothing where callers pay the same. */
function partsOf(before: PriceContent, after: PriceContent): string[] {
  const [old, now] = [basisOf(before), basisOf(after)];
  const parts = rateParts(old.rates, now.rates);
  if (canonicalJson(old.bands) !== canonicalJson(now.bands)) {
    const from = Math.min(...[...old.bands, ...now.bands].map((band) => band.from_prompt_tokens));
    parts.push(`other prices for prompts of ${from} tokens and more`);
  }
  if (before.fee_bps !== after.fee_bps)
    parts.push(`fee ${(before.fee_bps ?? 0) / 100} % → ${(after.fee_bps ?? 0) / 100} %`);
  return parts;
}

function nameOfUse(use: string): string {
  if (use === STANDARD) return '';
  const tier = use.startsWith(OWN_KEY) ? use.slice(OWN_KEY.length) : use;
  const own = use.startsWith(OWN_KEY) ? 'with your own key' : '';
  return `${[tier === STANDARD ? '' : `tier ${tier}`, own].filter(Boolean).join(' ')}: `;
}

/** What changed at one endpoint in one sentence for each of its prices; null where callers pay what they paid. */
export function summaryOf(changes: readonly Pick<Repriced, 'use' | 'before' | 'after'>[]): string | null {
  const said = new Set<string>();
  const sentences: string[] = [];
  for (const { use, before, after } of changes) {
    if (use === TEST) continue;
    const text = partsOf(before, after).join(', ');
    // The price of own keys follows the other; said once, it is said.
    if (text === '' || (use.startsWith(OWN_KEY) && said.has(text))) continue;
    said.add(text);
    sentences.push(`${nameOfUse(use)}${text}`);
  }
  if (sentences.length === 0) return null;
  return cut(`USD per million units: ${sentences.join('; ')}.`);
}

const cut = (text: string) => (text.length <= SUMMARY_MAX ? text : `${text.slice(0, SUMMARY_MAX - 1)}…`);

/** Notes what `changes` of one load are to those who call the endpoints: one thing for each endpoint. */
export async function noteRepriced(db: Db, changes: readonly Repriced[], at: Date): Promise<void> {
  const byEndpoint = Map.groupBy(changes, ({ endpoint_no }) => endpoint_no);
  const news: NewNews[] = [];
  for (const [endpoint_no, of] of byEndpoint) {
    const summary = summaryOf(of);
    const model_no = of[0]?.model_no as number;
    if (summary !== null)
      news.push({ topic: 'model.price_changed', model_no, endpoint_no, effective_at: at, summary });
  }
  await insertNews(db, news, at);
}

/** An endpoint with its present price and those to come. */
interface Scheduled {
  readonly model_no: number;
  readonly endpoint_no: number;
  readonly rates: Rates;
  readonly coming: readonly ComingPrice[];
}

/** Notes prices to come, each once as long as it stays what it is; the day on which one comes is noted as a change of its own. */
export async function noteScheduled(db: Db, endpoints: readonly Scheduled[], at: Date): Promise<void> {
  const news = endpoints.flatMap(({ model_no, endpoint_no, rates, coming }) => {
    let before = rates;
    return coming.flatMap(({ from, rates: next }): NewNews[] => {
      const parts = rateParts(before, next);
      before = next;
      if (parts.length === 0) return [];
      const summary = cut(`From ${from} on, USD per million units: ${parts.join(', ')}.`);
      const effective_at = new Date(`${from}T00:00:00Z`);
      return [{ topic: 'model.price_changed', model_no, endpoint_no, effective_at, summary }];
    });
  });
  await insertNews(db, await withoutKnown(db, news), at);
}

type Dates = Pick<Model, 'id' | 'status' | 'deprecated_at' | 'retires_at'>;

function deprecationSummary({ retires_at }: Dates): string {
  if (retires_at === null) return 'The model is deprecated; no day is set from which it is not called.';
  return `The model is deprecated. From ${retires_at} on it is not called.`;
}

/**
 * Notes which models are deprecated by now, and under which dates. One that was so when it was first loaded is no news; a
 * deprecated one that gets another date is.
 */
export async function noteDeprecations(
  db: Db,
  of: { models: readonly Dates[]; known: ReadonlyMap<string, KnownModel> },
  at: Date,
): Promise<void> {
  const noted = await selectDeprecations(db);
  const changed = of.models.flatMap((model) => {
    const { model_no, created_at } = of.known.get(model.id) as KnownModel;
    const is = model.status === 'deprecated';
    const last = noted.get(model_no);
    const dates = {
      deprecated_at: is ? model.deprecated_at : null,
      retires_at: is ? model.retires_at : null,
      is_deprecated: is,
    };
    if (last === undefined ? !is : canonicalJson(last) === canonicalJson(dates)) return [];
    return [{ model_no, model, dates, is_news: is && created_at < at }];
  });
  await addDeprecations(
    db,
    changed.map(({ model_no, dates }) => ({ model_no, ...dates })),
    at,
  );
  const news = changed.flatMap(({ model_no, model, is_news }): NewNews[] => {
    if (!is_news) return [];
    const effective_at = model.deprecated_at === null ? at : new Date(`${model.deprecated_at}T00:00:00Z`);
    const summary = deprecationSummary(model);
    return [{ topic: 'model.deprecated', model_no, endpoint_no: null, effective_at, summary }];
  });
  await insertNews(db, news, at);
}
