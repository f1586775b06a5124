// What an app shows to everybody, once its organization has said so: a page's worth of figures, and a badge.
import { type Static, Type } from 'typebox';
import { dayBefore, readAppDays } from '../analytics/index.ts';
import {
  type Context,
  FileAnswer,
  lineOf,
  named,
  notFound,
  nullable,
  operation,
  Time,
} from '../kernel/index.ts';
import { badge, unknownBadge } from './badge.ts';
import { isFresh, publicApp, published, remembered } from './published.ts';
import { type AppRow, STATS_DAYS } from './types.ts';

const MODELS_MAX = 20;
const audience = { kind: 'public' } as const;

const PublicApp = named(
  'PublicApp',
  Type.Object({
    slug: Type.String(),
    name: Type.String(),
    category: nullable(Type.String()),
    url: nullable(Type.String()),
    tokens_30d: Type.Integer(),
    requests_30d: Type.Integer(),
    models: Type.Array(Type.String(), { description: 'ids, most tokens first' }),
    trend: Type.Array(
      Type.Object({
        day: Type.String({ format: 'date', description: 'UTC' }),
        requests: Type.Integer(),
        tokens: Type.Integer(),
      }),
      { description: 'the last 30 days, oldest first' },
    ),
    analytics: Type.Boolean({
      description: 'false: the figures are more than half an hour old, or there are none',
    }),
    generated_at: Time,
  }),
);
export type PublicApp = Static<typeof PublicApp>;

type AppDays = Awaited<ReturnType<typeof readAppDays>>;

function sumBy<K extends 'day' | 'model'>(rows: AppDays, key: K) {
  const sums = new Map<string, { requests: number; tokens: number }>();
  for (const row of rows) {
    const { requests, tokens } = sums.get(row[key]) ?? { requests: 0, tokens: 0 };
    sums.set(row[key], { requests: requests + row.requests, tokens: tokens + row.tokens });
  }
  return sums;
}

function daysOf(context: Context, app: AppRow): Promise<AppDays> {
  const { slug, org_id } = app;
  const since = dayBefore(context.now(), STATS_DAYS - 1);
  return remembered(context, `app ${slug}`, () => readAppDays(context.db, { org_id, app_id: slug, since }));
}

const totalOf = (rows: AppDays, member: 'requests' | 'tokens') =>
  rows.reduce((sum, row) => sum + row[member], 0);

async function viewPublic(context: Context, app: AppRow): Promise<PublicApp> {
  const { slug, name, category, url } = app;
  const rows = await daysOf(context, app);
  const { refreshed_at } = await published(context);
  const by_day = sumBy(rows, 'day');
  // Models that are offered no more have no page to lead to.
  const { models } = context.services.catalog();
  const used = [...sumBy(rows, 'model')].filter(([id]) => models.has(id));
  return {
    ...{ slug, name, category, url },
    tokens_30d: totalOf(rows, 'tokens'),
    requests_30d: totalOf(rows, 'requests'),
    models: used
      .sort(([a, one], [b, other]) => other.tokens - one.tokens || (a < b ? -1 : 1))
      .slice(0, MODELS_MAX)
      .map(([id]) => id),
    trend: Array.from({ length: STATS_DAYS }, (_, at) => {
      const day = dayBefore(context.now(), STATS_DAYS - 1 - at);
      return { day, ...(by_day.get(day) ?? { requests: 0, tokens: 0 }) };
    }),
    analytics: isFresh(refreshed_at, context.now()),
    generated_at: (refreshed_at ?? context.now()).toISOString(),
  };
}

/** What the app `slug` shows. @throws ServiceError not_found where none shows itself under that name. */
export async function readPublicApp(context: Context, slug: string): Promise<PublicApp> {
  const app = await publicApp(context, slug);
  if (app === null) throw notFound();
  return viewPublic(context, app);
}

export const publicAppOperation = operation({
  name: 'apps.public',
  method: 'GET',
  path: '/v1/apps/:slug/public',
  summary: 'Read what an app shows to everybody; no key is needed',
  audience,
  input: Type.Object({ slug: Type.String() }),
  output: PublicApp,
  errors: ['not_found'],
  cached: { scope: 'public' },
  example: {
    slug: 'acme-notes',
    name: 'Acme Notes',
    category: 'productivity',
    url: 'https://notes.acme.example',
    tokens_30d: 41_900_311,
    requests_30d: 18_204,
    models: ['acme/fast-1'],
    trend: [{ day: '2026-11-20', requests: 611, tokens: 1_400_219 }],
    analytics: true,
    generated_at: '2026-11-21T10:00:00.000Z',
  },
  run: (context, { slug }) => readPublicApp(context, slug),
});

const SVG = { content_type: 'image/svg+xml; charset=utf-8', inline: true } as const;
/** Opened by itself the image is a document: it may run and load nothing. */
const POLICY = "default-src 'none'; sandbox";

export const badgeOperation = operation({
  name: 'apps.badge',
  method: 'GET',
  path: '/v1/apps/:slug/badge',
  summary: 'The badge of an app as SVG, with its tokens of 30 days; no key is needed',
  audience,
  input: Type.Object({
    slug: Type.String(),
    label: Type.Optional({ ...lineOf(64, 1), description: 'the name of the app unless given' }),
    color: Type.Optional(
      Type.String({ pattern: '^[0-9a-f]{6}$', description: 'of the right half, without the hash mark' }),
    ),
  }),
  output: named('Badge', Type.String()),
  errors: [],
  produces: 'image/svg+xml',
  cached: { scope: 'public', max_age_seconds: 3_600 },
  example: '<svg/>',
  async run(context, { slug, label, color }) {
    context.header('content-security-policy', POLICY);
    const app = await publicApp(context, slug);
    if (app === null) {
      return new FileAnswer({ ...SVG, filename: 'unknown.svg', body: unknownBadge(), status: 404 });
    }
    const tokens = totalOf(await daysOf(context, app), 'tokens');
    const body = badge({ label: label ?? app.name, tokens, color });
    return new FileAnswer({ ...SVG, filename: `${app.slug}.svg`, body });
  },
});
