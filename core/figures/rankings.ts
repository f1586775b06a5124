// Which apps and models are used most: `GET /v1/rankings`, for everybody.
import { type Static, Type } from 'typebox';
import { type AppKey, dayBefore, SUMMED_DAYS, sumApps, sumModels } from '../analytics/index.ts';
import { type Context, named, operation, Time } from '../kernel/index.ts';
import { significant } from './middle.ts';
import { isFresh, publicApps, published, remembered } from './published.ts';
import { AppCategory } from './types.ts';

const RANKED_MAX = 100;

const RankingsView = named(
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
type RankingsView = Static<typeof RankingsView>;
type Ranked = Pick<RankingsView, 'apps' | 'models'>;

interface Window {
  readonly days: number;
  readonly category: string | null;
}

/** The most tokens first, in rounded numbers; what is equal after rounding goes by its id, so that rounding hides what it should. */
function ranked<T extends { id: string; requests: number; tokens: number }>(rows: readonly T[]): T[] {
  return rows
    .map((row) => ({ ...row, requests: significant(row.requests), tokens: significant(row.tokens) }))
    .sort((a, b) => b.tokens - a.tokens || b.requests - a.requests || (a.id < b.id ? -1 : 1))
    .slice(0, RANKED_MAX);
}

/** Models that many use, or of a category those that its apps use: these apps have agreed to be seen. */
async function rankedModels(
  context: Context,
  since: string,
  of: { apps: readonly AppKey[] | null; min_orgs: number },
): Promise<Ranked['models']> {
  // What is offered no more has no page to lead to.
  const known = context.services.catalog().models;
  const sums = await sumModels(context.db, { since, apps: of.apps });
  return ranked(
    sums
      .filter(({ model, orgs }) => known.has(model) && (of.apps !== null || orgs >= of.min_orgs))
      .map(({ model, requests, tokens, apps }) => ({ id: model, requests, tokens, apps })),
  );
}

async function rank(context: Context, { days, category }: Window, min_orgs: number): Promise<Ranked> {
  const since = dayBefore(context.now(), days - 1);
  const all = await publicApps(context);
  const apps = category === null ? all : all.filter((app) => app.category === category);
  const keys = apps.map(({ org_id, slug }) => ({ org_id, app_id: slug }));
  const sums = await sumApps(context.db, { apps: keys, since, model: null });
  return {
    apps: ranked(
      sums.map(({ app_id, requests, tokens, models }) => ({ id: app_id, requests, tokens, models })),
    ),
    models: await rankedModels(context, since, { apps: category === null ? null : keys, min_orgs }),
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
  async run(context, { days = 7, category }) {
    const { min_orgs, refreshed_at } = await published(context);
    const window = { days, category: category?.toLowerCase() ?? null };
    const key = `rankings ${JSON.stringify(window)}`;
    const found =
      refreshed_at === null
        ? { apps: [], models: [] }
        : await remembered(context, key, () => rank(context, window, min_orgs));
    return {
      days,
      ...found,
      analytics: isFresh(refreshed_at, context.now()),
      generated_at: (refreshed_at ?? context.now()).toISOString(),
    };
  },
});
