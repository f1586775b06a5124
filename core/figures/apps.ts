// An organization's own apps: `GET /v1/apps`, `PUT /v1/apps/{slug}`.
import { Type } from 'typebox';
import { dayBefore, sumOwnApps } from '../analytics/index.ts';
import { changesOf, writeAudit } from '../identity/index.ts';
import { type Context, listOf, named, notFound, nullable, operation, orgCaller } from '../kernel/index.ts';
import { listOwnApps, lockOwnApp, updateApp } from './store.ts';
import {
  AppCategory,
  AppName,
  type AppRow,
  AppUrl,
  AppView,
  appExample,
  isAppSlug,
  STATS_DAYS,
} from './types.ts';

interface Traffic {
  readonly requests: number;
  readonly tokens: number;
  readonly first_at: Date;
}

/** A test key has no part in live calls. */
async function trafficOf(context: Context): Promise<Map<string, Traffic>> {
  const { org_id, environment } = orgCaller(context);
  if (environment === 'test') return new Map();
  const since = dayBefore(context.now(), STATS_DAYS - 1);
  const sums = await sumOwnApps(context.db, { org_id, since });
  return new Map(sums.map(({ app_id, ...traffic }) => [app_id, traffic]));
}

function viewApp(app: AppRow, traffic: Traffic | undefined): AppView {
  const { slug, name, category, url, first_seen_at } = app;
  return {
    ...{ slug, name, category, url, public: app.public, owned: true },
    requests_30d: traffic?.requests ?? 0,
    tokens_30d: traffic?.tokens ?? 0,
    first_seen_at: first_seen_at.toISOString(),
  };
}

/** An app under a name that is another organization's, or one of ours. */
function viewForeign(slug: string, { requests, tokens, first_at }: Traffic): AppView {
  return {
    ...{ slug, name: slug, category: null, url: null, public: false, owned: false },
    ...{ requests_30d: requests, tokens_30d: tokens, first_seen_at: first_at.toISOString() },
  };
}

export const listAppsOperation = operation({
  name: 'apps.list',
  method: 'GET',
  path: '/v1/apps',
  summary: 'List the apps that your calls named, by name; a new one is listed within ten minutes',
  audience: {
    kind: 'key',
    scopes: ['read:usage'],
    session: ['owner', 'admin', 'developer', 'billing', 'viewer'],
  },
  input: Type.Object({}),
  output: named('AppList', listOf(AppView)),
  errors: [],
  example: { object: 'list', data: [appExample] },
  async run(context) {
    const { org_id } = orgCaller(context);
    const apps = await listOwnApps(context.db, org_id);
    const traffic = await trafficOf(context);
    const own = new Set(apps.map(({ slug }) => slug));
    const foreign = [...traffic].filter(([slug]) => !own.has(slug));
    const data = [
      ...apps.map((app) => viewApp(app, traffic.get(app.slug))),
      ...foreign.map(([slug, sum]) => viewForeign(slug, sum)),
    ];
    return { object: 'list' as const, data: data.sort((a, b) => (a.slug < b.slug ? -1 : 1)) };
  },
});

export const putAppOperation = operation({
  name: 'apps.update',
  method: 'PUT',
  path: '/v1/apps/:slug',
  summary: 'Say what an app is called, and whether everybody sees it; what is left out is reset',
  // An app is of live calls, so a test key changes none.
  audience: {
    kind: 'key',
    scopes: ['manage:keys'],
    session: ['owner', 'admin', 'developer'],
    sandbox: false,
  },
  input: Type.Object({
    slug: Type.String(),
    name: Type.Optional({ ...AppName, description: 'the slug unless given' }),
    category: Type.Optional(nullable({ ...AppCategory, description: 'kept in small letters' })),
    url: Type.Optional(nullable(AppUrl)),
    public: Type.Optional(Type.Boolean({ description: 'false unless given' })),
  }),
  output: AppView,
  errors: [],
  request: { name: 'Acme Notes', category: 'productivity', url: 'https://notes.acme.example', public: true },
  example: appExample,
  run: (context, { slug, name, category, url, public: is_public }) =>
    context.transaction(async (context) => {
      const { org_id } = orgCaller(context);
      const before = isAppSlug(slug) ? await lockOwnApp(context.db, { org_id, slug }) : null;
      // Another organization's app and one that never was are the same to who asks.
      if (before === null) throw notFound();
      const said = {
        name: (name ?? slug).normalize('NFC'),
        category: category?.normalize('NFC').toLowerCase() ?? null,
        url: url ?? null,
        public: is_public ?? false,
      };
      const app = { ...before, ...said, updated_at: context.now() };
      const change = changesOf(before, app, ['name', 'category', 'url', 'public']);
      if (Object.keys(change.after).length > 0) {
        await updateApp(context.db, app);
        const target = { type: 'app', id: slug, display: app.name };
        await writeAudit(context, { action: 'apps.update', org_id, target, ...change });
        context.afterCommit((context) => context.services.figures_memory?.forget());
      }
      return viewApp(app, (await trafficOf(context)).get(slug));
    }),
});
