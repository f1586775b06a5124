// Makes the figures that everybody sees (the job `publish_figures`), and notes apps that are new. What is published is decided here:
// a gateway that reads them reads nothing that it should keep to itself.
import {
  dayBefore,
  firstSights,
  type RowReader,
  STEP,
  type StepCount,
  sumAppWindows,
  sumDays,
  sumEndpoints,
  sumModels,
  sumSteps,
} from '../analytics/index.ts';
import { type EndpointFigures, type ModelFigures, modelsOfEndpoints } from '../catalog/index.ts';
import type { Pool } from '../db/index.ts';
import type { Db } from '../kernel/index.ts';
import { activeOrgs } from '../orgs/index.ts';
import { quantile, tenth, together } from './middle.ts';
import { listPublicApps, noteApps, writeFigures } from './store.ts';
import { ATTEMPTS_MIN, type Content, STATS_DAYS, WEEK_DAYS } from './types.ts';

/** Below this share of attempts that go well, an endpoint counts as degraded. */
const DEGRADED_BELOW = 0.9;

interface Counts {
  readonly attempts: number;
  readonly ok: number;
  readonly excused: number;
}

/** The share of attempts that went well, of those that the caller neither spoilt nor left; null of too few. */
export function uptimeOf({ attempts, ok, excused }: Counts): number | null {
  const counted = attempts - excused;
  if (attempts < ATTEMPTS_MIN || counted <= 0) return null;
  return Math.round((ok / counted) * 10_000) / 10_000;
}

type Steps = ReadonlyMap<number, number>;
interface Times {
  readonly ttft: Steps;
  readonly tpot: Steps;
}

function timesOf(counts: readonly StepCount[]): Map<string, Times> {
  const steps = (of: readonly StepCount[], kind: StepCount['kind']) =>
    new Map(of.filter((one) => one.kind === kind).map(({ step, n }) => [step, n]));
  return new Map(
    [...Map.groupBy(counts, ({ endpoint_id }) => endpoint_id)].map(([id, of]) => [
      id,
      { ttft: steps(of, 'ttft'), tpot: steps(of, 'tpot') },
    ]),
  );
}

/** A middle of `steps` in milliseconds, where there are attempts enough. */
function middle(steps: Steps | undefined, share: number, { attempts }: Counts): number | null {
  if (attempts < ATTEMPTS_MIN || steps === undefined) return null;
  const found = quantile(steps, share, STEP);
  return found === null ? null : tenth(found);
}

type EndpointSum = Awaited<ReturnType<typeof sumEndpoints>>[number];

function ofEndpoint(sum: EndpointSum, times: Times | undefined): EndpointFigures {
  const { recent_attempts: attempts, recent_ok: ok, recent_excused: excused } = sum;
  const lately = uptimeOf({ attempts, ok, excused });
  return {
    attempts_30d: sum.attempts,
    uptime_30d: uptimeOf(sum),
    ttft_p50_ms: middle(times?.ttft, 0.5, sum),
    ttft_p95_ms: middle(times?.ttft, 0.95, sum),
    degraded: lately !== null && lately < DEGRADED_BELOW,
  };
}

function ofModel(
  sums: readonly EndpointSum[],
  times: ReadonlyMap<string, Times>,
  requests_7d: number | null,
): ModelFigures {
  const add = (member: keyof Counts) => sums.reduce((total, sum) => total + sum[member], 0);
  const all = { attempts: add('attempts'), ok: add('ok'), excused: add('excused') };
  const own = sums.flatMap(({ endpoint_id }) => times.get(endpoint_id) ?? []);
  const tpot_us = middle(together(own.map(({ tpot }) => tpot)), 0.5, all);
  return {
    uptime_30d: uptimeOf(all),
    ttft_p50_ms: middle(together(own.map(({ ttft }) => ttft)), 0.5, all),
    tpot_p50_ms: tpot_us === null ? null : Math.round(tpot_us) / 1_000,
    requests_7d,
  };
}

/** The figures as of `now`; a model's calls are published where `min_orgs` organizations made them. */
async function makeFigures(pool: Pool, now: Date, min_orgs: number): Promise<Content> {
  const since = dayBefore(now, STATS_DAYS - 1);
  const sums = await sumEndpoints(pool, { since, recent: dayBefore(now, 1) });
  const times = timesOf(await sumSteps(pool, since));
  const weeks = await sumModels(pool, dayBefore(now, WEEK_DAYS - 1));
  const of_model = await modelsOfEndpoints(
    pool,
    sums.map(({ endpoint_id }) => endpoint_id),
  );
  const by_model = Map.groupBy(sums, ({ endpoint_id }) => of_model.get(endpoint_id) ?? '');
  const requests = new Map(
    weeks.filter(({ orgs }) => orgs >= min_orgs).map((week) => [week.model, week.requests]),
  );
  const models = new Set([...by_model.keys(), ...requests.keys()].filter((id) => id !== ''));
  return {
    min_orgs,
    endpoints: Object.fromEntries(
      sums.map((sum) => [sum.endpoint_id, ofEndpoint(sum, times.get(sum.endpoint_id))]),
    ),
    models: Object.fromEntries(
      [...models].map((id) => [id, ofModel(by_model.get(id) ?? [], times, requests.get(id) ?? null)]),
    ),
  };
}

/** Apps that everybody may see, where staff do not keep them out. */
async function shownApps(db: Db) {
  const apps = await listPublicApps(db);
  const active = await activeOrgs(db, [...new Set(apps.map(({ org_id }) => org_id))]);
  return apps
    .filter(({ org_id }) => active.has(org_id))
    .map(({ org_id, slug }) => ({ org_id, app_id: slug }));
}

/** Sums days and windows, notes new apps and publishes the figures as of `now`; returns how many days were summed. */
export async function publishFigures(
  pool: Pool,
  of: { now: Date; min_orgs: number; reader?: RowReader | undefined },
): Promise<number> {
  const { now, min_orgs, reader } = of;
  const summed = await sumDays(pool, now, reader);
  const sights = await firstSights(pool, dayBefore(now, WEEK_DAYS));
  // An organization that is being erased gets nothing new.
  const active = await activeOrgs(pool, [...new Set(sights.map(({ org_id }) => org_id))]);
  await noteApps(
    pool,
    sights.filter(({ org_id }) => active.has(org_id)),
    now,
  );
  await sumAppWindows(pool, now, shownApps);
  await writeFigures(pool, await makeFigures(pool, now, min_orgs), now);
  return summed;
}
