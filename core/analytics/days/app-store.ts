// SQL of the days of apps and models.
import type { Db, Id } from '../../kernel/index.ts';

interface ModelSum {
  readonly model: string;
  readonly requests: number;
  readonly tokens: number;
  /** Apps of all organizations, those that show themselves to nobody too. */
  readonly apps: number;
  /** Organizations with a call. */
  readonly orgs: number;
}

/** An app as it stands in rows: two organizations may use the same word. */
interface AppKey {
  readonly org_id: Id<'org'>;
  readonly app_id: string;
}

/** Sums the days of apps from `since` on by model, in the place of what was summed before. Needs the lock. */
export async function sumModelDays(db: Db, since: string): Promise<void> {
  await db.query({ name: 'analytics.clear_model_days', text: 'delete from model_day' });
  await db.query({
    name: 'analytics.sum_model_days',
    text: `
      with app as (
        select model, org_id, app_id, max(day) as day from app_day
         where day >= $1::date group by model, org_id, app_id),
      apps as (select model, day, count(*)::int as n from app where app_id <> '' group by model, day),
      org as (select model, org_id, max(day) as day from app group by model, org_id),
      orgs as (select model, day, count(*)::int as n from org group by model, day)
      insert into model_day (day, model, requests, tokens, apps, orgs)
      select day, model, sum(requests), sum(tokens), coalesce(max(apps.n), 0), coalesce(max(orgs.n), 0)
        from app_day
        left join apps using (model, day)
        left join orgs using (model, day)
       where day >= $1::date
       group by day, model`,
    values: [since],
  });
}

/** Calls and tokens by model from `since` on. */
export async function sumModels(db: Db, since: string): Promise<ModelSum[]> {
  const { rows } = await db.query<ModelSum>({
    name: 'analytics.sum_models',
    text: `
      select model, sum(requests)::bigint as requests, sum(tokens)::bigint as tokens, sum(apps)::int as apps,
             sum(orgs)::int as orgs
        from model_day where day >= $1::date group by model`,
    values: [since],
  });
  return rows;
}

interface AppSum extends AppKey {
  readonly model: string;
  readonly requests: number;
  readonly tokens: number;
}

/**
 * Calls and tokens of each of `apps` by model from `since` on, of `model` alone unless that is null; those without any are
 * absent.
 */
export async function sumApps(
  db: Db,
  of: { apps: readonly AppKey[]; since: string; model: string | null },
): Promise<AppSum[]> {
  const { rows } = await db.query<AppSum>({
    name: 'analytics.sum_apps',
    text: `
      select org_id, app_id, model, sum(requests)::bigint as requests, sum(tokens)::bigint as tokens
        from unnest($1::text[], $2::text[]) as wanted (org_id, app_id)
        join app_day using (org_id, app_id)
       where day >= $3::date and ($4::text is null or model = $4)
       group by org_id, app_id, model`,
    values: [of.apps.map(({ org_id }) => org_id), of.apps.map(({ app_id }) => app_id), of.since, of.model],
  });
  return rows;
}

/** Calls and tokens by app of one organization from `since` on. */
export async function sumOwnApps(
  db: Db,
  of: { org_id: Id<'org'>; since: string },
): Promise<{ app_id: string; requests: number; tokens: number; first_at: Date }[]> {
  const { rows } = await db.query<{ app_id: string; requests: number; tokens: number; first_at: Date }>({
    name: 'analytics.sum_own_apps',
    text: `
      select app_id, sum(requests)::bigint as requests, sum(tokens)::bigint as tokens, min(first_at) as first_at
        from app_day
       where org_id = $1 and app_id <> '' and day >= $2::date
       group by app_id`,
    values: [of.org_id, of.since],
  });
  return rows;
}

/** Days and models of one app from `since` on. */
export async function readAppDays(
  db: Db,
  of: AppKey & { since: string },
): Promise<{ day: string; model: string; requests: number; tokens: number }[]> {
  const { rows } = await db.query<{ day: string; model: string; requests: number; tokens: number }>({
    name: 'analytics.read_app_days',
    text: `
      select day::text, model, requests, tokens from app_day
       where org_id = $1 and app_id = $2 and day >= $3::date`,
    values: [of.org_id, of.app_id, of.since],
  });
  return rows;
}

/** Where and when each app was seen first, from `since` on: of several organizations the one that called first. */
export async function firstSights(db: Db, since: string): Promise<(AppKey & { first_at: Date })[]> {
  const { rows } = await db.query<AppKey & { first_at: Date }>({
    name: 'analytics.first_sights',
    text: `
      select distinct on (app_id) app_id, org_id, first_at from app_day
       where app_id <> '' and day >= $1::date
       order by app_id, first_at, org_id`,
    values: [since],
  });
  return rows;
}
