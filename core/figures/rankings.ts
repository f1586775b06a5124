// Which apps and models are used most: `GET /v1/rankings`, for everybody.
import { type Static, Type } from 'typebox';
import { dayBefore, readAppSums, SUMMED_DAYS, sumModels } from '../analytics/index.ts';
import { type Context, named, operation, Time } from '../kernel/index.ts';
import { SUMS_KEPT_MS } from './memory.ts';
import { significant } from './middle.ts';
import { appsShown, isFresh, publicApps, published, remembered } from './published.ts';
import { AppCategory } from './types.ts';

const RANKED_MAX = 100;

export const RankingsView = named(
  'Rankings',
  Type.Object({
    days: Type.Integer(),
    apps: Type.Array(
      Type.Object({
        id: Type.String(),
        requests: Type.Integer(),
        tokens: Type.Integer(),
        models: Type.Integer({ description: 'how many it used' }),
      }),
      { description: 'apps that show themselves to everybody, most tokens first' },
    ),
    models: Type.Array(
      Type.Object({
        id: Type.String(),
        requests: Type.Integer(),
        tokens: Type.Integer(),
        apps: Type.Integer({ description: 'how many used it, unnamed ones too' }),
      }),
      { description: 'most tokens first; those that enough organizations used' },
    ),
    analytics: Type.Boolean({
      description: 'false: the figures are more than half an hour old, or there are none',
    }),
    generated_at: Time,
  }),
);
export type RankingsView = Static<typeof RankingsView>;
type Ranked = Pick<RankingsView, 'apps' | 'models'>;

/** The most tokens first, in rounded numbers; what is equal after rounding goes by its id, so that rounding hides what it should. */
function ranked<T extends { id: string; requests: number; tokens: number }>(rows: readonly T[]): T[] {
  return rows
    .map((row) => ({ ...row, requests: significant(row.requests), tokens: significant(row.tokens) }))
    .sort((a, b) => b.tokens - a.tokens || b.requests - a.requests || (a.id < b.id ? -1 : 1))
    .slice(0, RANKED_MAX);
}

type AppSums = Awaited<ReturnType<typeof readAppSums>>;
type ModelSums = Awaited<ReturnType<typeof sumModels>>;

interface Sums {
  readonly models: ModelSums;
  /** Of the apps that were public when it was summed. */
  readonly apps: AppSums;
}

/** What was summed of the last `days`: the same until figures are published again. */
function sumsOf(context: Context, days: number, refreshed_at: Date): Promise<Sums> {
  const now = context.now();
  const since = dayBefore(now, days - 1);
  const sum = async () => {
    const apps = await publicApps(context);
    const keys = apps.map(({ org_id, slug }) => ({ org_id, app_id: slug }));
    return {
      models: await sumModels(context.db, since),
      apps: await readAppSums(context.db, { apps: keys, now, days, model: null }),
    };
  };
  const key = `sums ${days} ${refreshed_at.getTime()} ${since}`;
  return remembered(context, key, sum, SUMS_KEPT_MS);
}

/** Sums of apps put together by `key`, and how many different `other` there are in each. */
function together(sums: AppSums, key: 'app_id' | 'model', other: 'app_id' | 'model') {
  return [...Map.groupBy(sums, (sum) => sum[key])].map(([id, of]) => ({
    id,
    requests: of.reduce((total, { requests }) => total + requests, 0),
    tokens: of.reduce((total, { tokens }) => total + tokens, 0),
    others: new Set(of.map((sum) => sum[other])).size,
  }));
}

/** Models that many use, or of a category those that its apps use: these apps have agreed to be seen. */
function modelsOf(sums: Sums, shown: AppSums, of: { category: string | null; min_orgs: number }) {
  if (of.category !== null) {
    return together(shown, 'model', 'app_id').map(({ others, ...model }) => ({ ...model, apps: others }));
  }
  return sums.models
    .filter(({ orgs }) => orgs >= of.min_orgs)
    .map(({ model, requests, tokens, apps }) => ({ id: model, requests, tokens, apps }));
}

interface Asked {
  readonly days: number;
  readonly category: string | null;
  readonly min_orgs: number;
  readonly refreshed_at: Date;
}

async function rank(context: Context, asked: Asked): Promise<Ranked> {
  const { category } = asked;
  const sums = await sumsOf(context, asked.days, asked.refreshed_at);
  // Asked anew: an app that was taken back since is seen no more.
  const apps = await appsShown(context);
  const wanted = new Set(
    apps.filter((app) => category === null || app.category === category).map(({ slug }) => slug),
  );
  const shown = sums.apps.filter(({ app_id }) => wanted.has(app_id));
  // A model that is offered no more has no page to lead to.
  const offered = context.services.catalog().models;
  return {
    apps: ranked(
      together(shown, 'app_id', 'model').map(({ others, ...app }) => ({ ...app, models: others })),
    ),
    models: ranked(modelsOf(sums, shown, asked).filter(({ id }) => offered.has(id))),
  };
}

/** The ranking of the last `days` and, where one is given, of the apps of a category. */
export async function readRankings(
  context: Context,
  { days = 7, category }: { readonly days?: number; readonly category?: string },
): Promise<RankingsView> {
  const { min_orgs, refreshed_at } = await published(context);
  const of = { days, category: category?.toLowerCase() ?? null, min_orgs };
  const found =
    refreshed_at === null ? { apps: [], models: [] } : await rank(context, { ...of, refreshed_at });
  return {
    days,
    ...found,
    analytics: isFresh(refreshed_at, context.now()),
    generated_at: (refreshed_at ?? context.now()).toISOString(),
  };
}

export const rankingsOperation = operation({
  name: 'rankings.get',
  method: 'GET',
  path: '/v1/rankings',
  summary: 'Rank apps and models by tokens; no key is needed',
  audience: { kind: 'public' },
  input: Type.Object({
    days: Type.Optional(
      Type.Integer({ minimum: 1, maximum: SUMMED_DAYS, description: 'up to today, in UTC; 7 unless given' }),
    ),
    category: Type.Optional(AppCategory),
  }),
  output: RankingsView,
  errors: [],
  cached: { scope: 'public' },
  example: {
    days: 7,
    apps: [{ id: 'acme-notes', requests: 4_200, tokens: 9_810_000, models: 3 }],
    models: [{ id: 'acme/fast-1', requests: 61_800, tokens: 204_000_000, apps: 41 }],
    analytics: true,
    generated_at: '2026-11-21T10:00:00.000Z',
  },
  run: readRankings,
});
