// Sums of request rows over a range. Totals, series and groups come from the same figures, so that they agree. Hours
// that are over are read from their roll-ups.
import { type Static, Type } from 'typebox';
import {
  FileAnswer,
  invalid,
  named,
  nullable,
  oneOf,
  operation,
  orgCaller,
  Time,
  TimeIn,
} from '../kernel/index.ts';
import { findOrg } from '../orgs/index.ts';
import { readerOf } from './engine/postgres.ts';
import type { RowReader } from './engine/types.ts';
import { KEPT_DAYS } from './store.ts';
import { dayStarts, type UsageRange, usageGranularities, usageRange, usageRanges } from './usage/buckets.ts';
import { callerFilterOf, callerFilters } from './usage/caller-filters.ts';
import {
  allPartsOf,
  exportOf,
  Figures,
  GROUPS_MAX,
  groupSeriesInput,
  partsOf,
  totalOf,
  usageParts,
} from './usage/shape.ts';
import { isSaid, type UsageSum } from './usage/sums-store.ts';
import { ANY_CALLER, type UsageBy, type UsageFilter } from './usage-store.ts';

export const usageGroupings = [
  ...(['project', 'key', 'model', 'provider', 'byok', 'app', 'tag'] as const),
  ...(['user', 'session'] as const),
] as const;

const DAY_MS = 86_400_000;
const Window = { from: Time, to: Time };

export const UsageView = named(
  'Usage',
  Type.Object({
    object: Type.Literal('usage'),
    range: named(
      'UsagePeriod',
      Type.Object({
        ...Window,
        granularity: oneOf(usageGranularities, 'UsageGranularity'),
        timezone: Type.String({ description: 'whose days the buckets are; hours are those of UTC' }),
      }),
    ),
    group_by: nullable(oneOf(usageGroupings, 'UsageGrouping')),
    ...usageParts,
    previous: Type.Optional(Type.Object({ ...Window, totals: Figures })),
    analytics_lag_s: Type.Integer({
      minimum: 0,
      description: 'how late rows come now, in whole seconds; calls of that long may be missing',
    }),
  }),
);

const Name = Type.Optional(Type.String());
export const UsageInput = Type.Object({
  range: Type.Optional(oneOf(usageRanges, 'UsageRange')),
  from: Type.Optional(TimeIn),
  to: Type.Optional(TimeIn),
  granularity: Type.Optional(oneOf(usageGranularities, 'UsageGranularity')),
  group_by: Type.Optional(oneOf(usageGroupings, 'UsageGrouping')),
  timezone: Type.Optional(
    Type.String({
      description: 'name of the IANA database for the days, like Asia/Kolkata; UTC unless given',
    }),
  ),
  compare: Type.Optional(Type.Boolean()),
  group_series: groupSeriesInput,
  project_id: Name,
  key_id: Name,
  model: Name,
  provider: Name,
  ...callerFilters,
  tag: Type.Optional(
    Type.String({ description: 'the name of a tag: what `group_by=tag` groups by, else calls that have it' }),
  ),
  environment: Type.Optional(oneOf(['live', 'test'], 'Environment')),
  format: Type.Optional(oneOf(['json', 'csv'], 'TableFormat')),
});

/** The first day whose rows are surely there at `now`; of those before only the sums of hours are. */
function keptFrom(now: Date): number {
  return Math.ceil(now.getTime() / DAY_MS - KEPT_DAYS.rows) * DAY_MS;
}

/** @throws ServiceError invalid_request for a grouping by a tag that is not named. */
export function refuseNameless({ group_by, tag }: Pick<Static<typeof UsageInput>, 'group_by' | 'tag'>): void {
  if (group_by !== 'tag' || (tag ?? '') !== '') return;
  throw invalid('tag', 'missing', 'group_by=tag needs tag, the name of the tag.');
}

/** Cost and number of calls of an organization by UTC day. */
export function sumUsageByDay(
  reader: RowReader,
  of: Pick<UsageFilter, 'org_id' | 'environment' | 'from' | 'to'>,
): Promise<UsageSum[]> {
  const starts = dayStarts({ from: of.from.getTime(), to: of.to.getTime() });
  const anything = { project_id: null, key_id: null, model: null, provider: null, ...ANY_CALLER };
  return reader.sumUsage(
    { ...of, ...anything },
    { starts, group: null, tag: null, kept_from: 0, most: null },
  );
}

interface Asked {
  readonly range: UsageRange;
  readonly by: Omit<UsageBy, 'most'>;
  /** Whether the figures of each bucket and group are asked for, or of buckets and of groups alone. */
  readonly each: boolean;
}

/** What is shown of calls; without a reader of none. */
async function readParts(reader: RowReader | null, filter: UsageFilter, { range, by, each }: Asked) {
  const all = { ...by, most: isSaid(by.group) ? GROUPS_MAX : null };
  if (each) return allPartsOf((await reader?.sumUsage(filter, all)) ?? [], range, by.group);
  const sums = await reader?.sumUsageApart(filter, all);
  return partsOf(sums ?? { series: [], groups: [] }, range, by.group);
}

/** One sum of all calls of `filter`, if there are any. */
function sumBefore(reader: RowReader, filter: UsageFilter, kept_from: number): Promise<UsageSum[]> {
  const starts = [filter.from.getTime()];
  return reader.sumUsage(filter, { starts, group: null, tag: null, kept_from, most: null });
}

const figuresExample = {
  requests: 1,
  ok: 1,
  errors: 0,
  input_tokens: 812,
  output_tokens: 96,
  cache_read_tokens: 0,
  cache_write_tokens: 0,
  reasoning_tokens: 0,
  cost_micro: 2_990,
};

export const getUsageOperation = operation({
  name: 'usage.get',
  method: 'GET',
  path: '/v1/usage',
  summary: 'Sum calls, tokens and cost over a range, by bucket and group, as JSON or CSV',
  audience: {
    kind: 'key',
    scopes: ['read:usage'],
    session: ['owner', 'admin', 'developer', 'billing', 'viewer'],
  },
  input: UsageInput,
  output: UsageView,
  errors: ['range_too_long'],
  produces: 'text/csv',
  example: {
    object: 'usage',
    range: {
      from: '2026-11-21T00:00:00.000Z',
      to: '2026-11-22T00:00:00.000Z',
      granularity: 'day',
      timezone: 'UTC',
    },
    group_by: 'model',
    totals: figuresExample,
    series: [{ bucket: '2026-11-21T00:00:00.000Z', ...figuresExample }],
    groups: [{ key: 'sandbox/echo', ...figuresExample }],
    analytics_lag_s: 0,
  },
  async run(context, input) {
    const caller = orgCaller(context);
    refuseNameless(input);
    const range = usageRange(input, context.now().getTime());
    const asked = input.environment ?? caller.environment;
    // A test key may not see live figures, so it gets zeros.
    const hidden = caller.environment === 'test' && caller.kind === 'key' && asked === 'live';
    const group = input.group_by ?? null;
    const kept_from = keptFrom(context.now());
    const said = callerFilterOf(input);
    const filter: UsageFilter = {
      org_id: caller.org_id,
      environment: asked,
      from: new Date(range.from),
      to: new Date(range.to),
      project_id: input.project_id ?? null,
      key_id: input.key_id ?? null,
      model: input.model ?? null,
      provider: input.provider ?? null,
      ...said,
      // The tag of a grouping keeps no call away: those without it are a group too.
      ...(group === 'tag' && said.tag_value === null ? { tag: null } : {}),
    };
    const reader = readerOf(context);
    const by = { starts: range.starts, group, tag: said.tag, kept_from };
    const own_lag_s = context.services.request_log.lag_s();
    context.header('x-svc-analytics-lag-s', String(own_lag_s));
    if (input.format === 'csv') {
      const org = await findOrg(context.db, caller.org_id);
      const sums = hidden ? [] : await reader.sumUsage(filter, { ...by, most: null });
      return new FileAnswer({
        content_type: 'text/csv; charset=utf-8',
        filename: `usage-${org?.slug}-${context.now().toISOString().slice(0, 10)}.csv`,
        body: exportOf(sums, range, group),
      });
    }
    const before = { from: new Date(2 * range.from - range.to), to: new Date(range.from) };
    const [parts, previous] = await Promise.all([
      readParts(hidden ? null : reader, filter, { range, by, each: input.group_series === true }),
      hidden || input.compare !== true ? [] : sumBefore(reader, { ...filter, ...before }, kept_from),
    ]);
    const lag_s = hidden ? 0 : await reader.readArrivalLag({ org_id: caller.org_id, environment: asked });
    return {
      object: 'usage' as const,
      range: {
        from: filter.from.toISOString(),
        to: filter.to.toISOString(),
        granularity: range.unit,
        timezone: range.zone,
      },
      group_by: group,
      ...parts,
      ...(input.compare === true
        ? {
            previous: {
              from: before.from.toISOString(),
              to: before.to.toISOString(),
              totals: totalOf(previous),
            },
          }
        : {}),
      analytics_lag_s: Math.max(own_lag_s, lag_s),
    };
  },
});
