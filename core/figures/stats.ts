// How a model did day by day, who uses it, and what changed: `GET /v1/models/{vendor}/{model}/stats`.
import { type Static, Type } from 'typebox';
import { dayBefore, type EndpointDay, readAppSums, readEndpointDays } from '../analytics/index.ts';
import {
  getNamedModel,
  type Model,
  PriceView,
  priceOf,
  readChangelog,
  scheduledPrices,
} from '../catalog/index.ts';
import { type Context, named, nullable, oneOf, operation, orgCaller, Time } from '../kernel/index.ts';
import { tenth } from './middle.ts';
import { uptimeOf } from './publish.ts';
import { appsShown, isFresh, publicApps, published, remembered } from './published.ts';
import { ATTEMPTS_MIN, STATS_DAYS, WEEK_DAYS } from './types.ts';

/** Apps of a model at most: the page that shows them is read by people. */
const APPS_MAX = 50;
const Figure = nullable(Type.Number());

const StatsDay = Type.Object({
  endpoint_id: Type.String(),
  day: Type.String({ format: 'date', description: 'UTC' }),
  attempts: Type.Integer(),
  ok: nullable(
    Type.Integer({ description: `null below ${ATTEMPTS_MIN} attempts, as are the figures after it` }),
  ),
  uptime: Figure,
  ttft_p50_ms: Figure,
  ttft_p95_ms: Figure,
  tpot_p50_ms: Figure,
});

export const changeKinds = ['added', 'price', 'deprecated', 'retired', 'endpoint'] as const;

export const ModelStats = named(
  'ModelStats',
  Type.Object({
    model: Type.String(),
    series: Type.Array(StatsDay, {
      description: 'one row for each endpoint and day, by endpoint, oldest day first',
    }),
    apps: Type.Array(
      Type.Object({ app_id: Type.String(), requests_7d: Type.Integer(), tokens_7d: Type.Integer() }),
      { description: 'those that show themselves to everybody, most tokens first' },
    ),
    scheduled_prices: Type.Array(
      Type.Object({ endpoint_id: Type.String(), effective_at: Time, price: PriceView }),
      { description: 'prices to come, the nearest first' },
    ),
    changelog: Type.Array(
      Type.Object({
        id: Type.String(),
        kind: oneOf(changeKinds, 'ModelChangeKind'),
        summary: Type.String(),
        endpoint_id: nullable(Type.String({ description: 'null: the model as a whole' })),
        effective_at: Time,
        created_at: Time,
      }),
      { description: 'newest first' },
    ),
    analytics: Type.Boolean({
      description: 'false: the figures are more than half an hour old, or there are none',
    }),
  }),
);
export type ModelStats = Static<typeof ModelStats>;
type Day = ModelStats['series'][number];

const EMPTY = { attempts: 0, ok: 0, excused: 0, ttft_p50_ms: null, ttft_p95_ms: null, tpot_p50_ms: null };

function viewDay(endpoint_id: string, day: string, found: Omit<EndpointDay, 'endpoint_id' | 'day'>): Day {
  const enough = found.attempts >= ATTEMPTS_MIN;
  const time = (value: number | null) => (enough && value !== null ? tenth(value) : null);
  const { tpot_p50_ms } = found;
  return {
    ...{ endpoint_id, day, attempts: found.attempts },
    ok: enough ? found.ok : null,
    uptime: uptimeOf(found),
    ttft_p50_ms: time(found.ttft_p50_ms),
    ttft_p95_ms: time(found.ttft_p95_ms),
    tpot_p50_ms: enough && tpot_p50_ms !== null ? Math.round(tpot_p50_ms * 1_000) / 1_000 : null,
  };
}

/** Every endpoint of `model` with every one of the last days. */
async function seriesOf(context: Context, model: Model): Promise<Day[]> {
  const days = Array.from({ length: STATS_DAYS }, (_, at) => dayBefore(context.now(), STATS_DAYS - 1 - at));
  const endpoint_ids = model.endpoints.map(({ id }) => id);
  const rows = await readEndpointDays(context.db, { endpoint_ids, since: days[0] as string });
  const found = new Map(rows.map((row) => [`${row.endpoint_id} ${row.day}`, row]));
  return endpoint_ids.flatMap((id) =>
    days.map((day) => viewDay(id, day, found.get(`${id} ${day}`) ?? EMPTY)),
  );
}

async function appsOf(context: Context, model: Model): Promise<ModelStats['apps']> {
  const apps = await publicApps(context);
  const shown = new Set((await appsShown(context)).map(({ slug }) => slug));
  const sums = await remembered(context, `stats ${model.id}`, () =>
    readAppSums(context.acrossOrgs.db, {
      apps: apps.map(({ org_id, slug }) => ({ org_id, app_id: slug })),
      now: context.now(),
      days: WEEK_DAYS,
      model: model.id,
    }),
  );
  return sums
    .filter(({ app_id }) => shown.has(app_id))
    .map(({ app_id, requests, tokens }) => ({ app_id, requests_7d: requests, tokens_7d: tokens }))
    .sort((a, b) => b.tokens_7d - a.tokens_7d || (a.app_id < b.app_id ? -1 : 1))
    .slice(0, APPS_MAX);
}

/** What a change of price says to a customer of a reseller: ours, before and after, would tell what the reseller adds. */
const OWN_PRICE = 'The price changed.';

interface Shown {
  readonly with_apps: boolean;
  /** Whether who asks is a customer of a reseller: what prices were before is not for it to see. */
  readonly of_reseller: boolean;
}

/** What changed at a model, whether or not it is offered, in words for who asks. */
export async function readChanges(
  context: Context,
  of: { model: string } & Pick<Shown, 'of_reseller'>,
): Promise<ModelStats['changelog']> {
  const changes = await readChangelog(context.db, { model: of.model, at: context.now() });
  return changes.map((change) => ({
    ...change,
    summary: of.of_reseller && change.kind === 'price' ? OWN_PRICE : change.summary,
    effective_at: change.effective_at.toISOString(),
    created_at: change.created_at.toISOString(),
  }));
}

/** The stats of `model`. */
export async function readStats(
  context: Context,
  model: Model,
  { with_apps, of_reseller }: Shown,
): Promise<ModelStats> {
  const { refreshed_at } = await published(context);
  return {
    model: model.id,
    series: await seriesOf(context, model),
    apps: with_apps ? await appsOf(context, model) : [],
    scheduled_prices: scheduledPrices(model).map(({ endpoint_id, effective_at, rates }) => ({
      ...{ endpoint_id, effective_at },
      price: priceOf(rates),
    })),
    changelog: await readChanges(context, { model: model.id, of_reseller }),
    analytics: isFresh(refreshed_at, context.now()),
  };
}

export const modelStatsOperation = operation({
  name: 'models.stats',
  method: 'GET',
  path: '/v1/models/:vendor/:model/stats',
  summary: 'Read how a model did in the last 30 days, which apps use it, and what changed',
  audience: {
    kind: 'key',
    scopes: 'any',
    session: ['owner', 'admin', 'developer', 'billing', 'viewer'],
    x_api_key: true,
  },
  input: Type.Object({ vendor: Type.String(), model: Type.String() }),
  output: ModelStats,
  errors: ['model_not_found'],
  cross_origin: true,
  cached: { scope: 'private' },
  example: {
    model: 'acme/fast-1',
    series: [
      {
        endpoint_id: 'ep_4Q3P2N1M0K9J01KACZ3V8S6T5R',
        day: '2026-11-20',
        attempts: 1_204,
        ok: 1_198,
        uptime: 0.9992,
        ttft_p50_ms: 212.4,
        ttft_p95_ms: 806.1,
        tpot_p50_ms: 9.412,
      },
    ],
    apps: [{ app_id: 'acme-notes', requests_7d: 4_201, tokens_7d: 9_810_440 }],
    scheduled_prices: [
      {
        endpoint_id: 'ep_4Q3P2N1M0K9J01KACZ3V8S6T5R',
        effective_at: '2026-12-01T00:00:00.000Z',
        price: { input: 2, output: 8 },
      },
    ],
    changelog: [
      {
        id: 'news-17',
        kind: 'price',
        summary: 'USD per million units: input 2.5 → 2, output 10 → 8.',
        endpoint_id: 'ep_4Q3P2N1M0K9J01KACZ3V8S6T5R',
        effective_at: '2026-12-01T00:00:00.000Z',
        created_at: '2026-11-20T09:12:44.018Z',
      },
    ],
    analytics: true,
  },
  async run(context, { vendor, model }) {
    const { environment, tier_bps } = orgCaller(context);
    const name = `${vendor}/${model}`;
    const found = getNamedModel(context.services.catalog(), { name, environment, param: 'model' });
    return readStats(context, found, {
      with_apps: environment === 'live',
      of_reseller: tier_bps !== undefined,
    });
  },
});
