// The figures as a process knows them, and whether they are of late.
import type { Figures } from '../catalog/index.ts';
import { sellerOf } from '../identity/index.ts';
import type { Context } from '../kernel/index.ts';
import { activeOrgs } from '../orgs/index.ts';
import type { FiguresMemory } from './memory.ts';
import { findPublicApp, listPublicApps, readFigures } from './store.ts';
import { type AppRow, isAppSlug } from './types.ts';

/** They are made every ten minutes; after three times that without any, answers say that they are old. */
const STALE_MS = 30 * 60_000;

export interface Published extends Figures {
  readonly min_orgs: number;
  /** null: there never were any. */
  readonly refreshed_at: Date | null;
}

async function load({ db }: Context): Promise<Published> {
  const found = await readFigures(db);
  if (found === null) return { endpoints: new Map(), models: new Map(), min_orgs: 0, refreshed_at: null };
  const { endpoints, models, min_orgs } = found.content;
  return {
    endpoints: new Map(Object.entries(endpoints)),
    models: new Map(Object.entries(models)),
    min_orgs,
    refreshed_at: found.refreshed_at,
  };
}

/** What `make` gives, or gave for `key` at most `kept_ms` ago; a few seconds unless given. */
export function remembered<T>(
  context: Context,
  key: string,
  make: () => Promise<T>,
  kept_ms?: number,
): Promise<T> {
  const memory = context.services.figures_memory;
  return memory === undefined ? make() : memory.get(key, make, kept_ms);
}

/** The figures that were published last. */
export function published(context: Context): Promise<Published> {
  return remembered(context, 'figures', () => load(context));
}

/** Whether figures of `refreshed_at` are new enough to be called figures of now. */
export function isFresh(refreshed_at: Date | null, now: Date): boolean {
  return refreshed_at !== null && now.getTime() - refreshed_at.getTime() <= STALE_MS;
}

/** Apps that show themselves to everybody, of organizations that are active. */
export function publicApps(context: Context): Promise<AppRow[]> {
  return remembered(context, 'apps', async () => {
    const { db } = context.acrossOrgs;
    const apps = await listPublicApps(db);
    const active = await activeOrgs(db, [...new Set(apps.map(({ org_id }) => org_id))]);
    return apps.filter(({ org_id }) => active.has(org_id));
  });
}

/** The app `slug`, where everybody may see it; else null. */
export async function publicApp(context: Context, slug: string): Promise<AppRow | null> {
  if (!isAppSlug(slug)) return null;
  const { db } = context.acrossOrgs;
  const app = await findPublicApp(db, slug);
  if (app === null) return null;
  return (await activeOrgs(db, [app.org_id])).has(app.org_id) ? app : null;
}

/** What a program with listeners gives to its operations. */
export function figureServices(memory: FiguresMemory) {
  return { figures_memory: memory, figures: (context: Context) => published(context) };
}

/** The public apps that who asks is shown: at the storefront of a reseller none, since they are of others. */
export async function appsShown(context: Context): Promise<readonly AppRow[]> {
  return (await sellerOf(context)) === null ? publicApps(context) : [];
}
