// SQL of windows: what apps that everybody sees sum up to over the last days, summed when figures are published.
import type { Db, Id } from '../../kernel/index.ts';

/** An app as it stands in rows. */
interface AppKey {
  readonly org_id: Id<'org'>;
  readonly app_id: string;
}

interface AppModelSum extends AppKey {
  readonly model: string;
  readonly requests: number;
  readonly tokens: number;
}

/** A window by its length and its first day. */
interface Window {
  readonly days: number;
  /** `YYYY-MM-DD`, UTC. */
  readonly since: string;
}

/** Sums `windows` of `apps` from days, in the place of all that were summed before. Needs the lock. */
export async function sumWindows(
  db: Db,
  of: { apps: readonly AppKey[]; windows: readonly Window[] },
): Promise<void> {
  const windows = [of.windows.map(({ days }) => days), of.windows.map(({ since }) => since)];
  await db.query({ name: 'analytics.clear_app_windows', text: 'delete from app_window' });
  await db.query({
    name: 'analytics.put_ranked_windows',
    text: `
      with gone as (delete from ranked_window where not (days = any ($1::int[])))
      insert into ranked_window (days, since) select * from unnest($1::int[], $2::date[])
          on conflict (days) do update set since = excluded.since`,
    values: windows,
  });
  await db.query({
    name: 'analytics.sum_app_windows',
    text: `
      insert into app_window (org_id, app_id, days, models)
      select org_id, app_id, days,
             coalesce(jsonb_object_agg(model, jsonb_build_array(requests, tokens)) filter (where model is not null), '{}')
        from unnest($3::text[], $4::text[]) as wanted (org_id, app_id)
       cross join unnest($1::int[], $2::date[]) as span (days, since)
        left join lateral (
               select model, sum(requests) as requests, sum(tokens) as tokens from app_day
                where app_day.org_id = wanted.org_id and app_day.app_id = wanted.app_id and day >= since
                group by model) as summed on true
       group by org_id, app_id, days`,
    values: [...windows, of.apps.map(({ org_id }) => org_id), of.apps.map(({ app_id }) => app_id)],
  });
}

interface WindowRead {
  readonly sums: AppModelSum[];
  /** Apps that are not in the window, since nobody saw them when it was summed, or there is no such window. */
  readonly missing: AppKey[];
}

/** Calls and tokens of each of `apps` by model in the window, of `model` alone unless that is null. */
export async function readWindow(
  db: Db,
  of: Window & { apps: readonly AppKey[]; model: string | null },
): Promise<WindowRead> {
  const { rows } = await db.query<AppKey & { models: Record<string, [number, number] | null> }>({
    name: 'analytics.read_app_window',
    text: `
      select org_id, app_id, case when $5::text is null then models
                                  else jsonb_build_object($5::text, models -> $5::text) end as models
        from unnest($3::text[], $4::text[]) as wanted (org_id, app_id)
        join app_window using (org_id, app_id)
        join ranked_window using (days)
       where days = $1 and since = $2::date`,
    values: [
      ...[of.days, of.since],
      ...[of.apps.map(({ org_id }) => org_id), of.apps.map(({ app_id }) => app_id), of.model],
    ],
  });
  const found = new Set(rows.map(({ org_id, app_id }) => `${org_id} ${app_id}`));
  return {
    sums: rows.flatMap(({ org_id, app_id, models }) =>
      Object.entries(models).flatMap(([model, sum]) =>
        sum === null ? [] : [{ org_id, app_id, model, requests: sum[0], tokens: sum[1] }],
      ),
    ),
    missing: of.apps.filter(({ org_id, app_id }) => !found.has(`${org_id} ${app_id}`)),
  };
}
