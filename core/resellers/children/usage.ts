// What customers of a reseller use: sums, by customer or by model. No call and no content is behind it.
import { type Static, Type } from 'typebox';
import {
  allPartsOf,
  exportOf,
  groupSeriesInput,
  partsOf,
  readerOf,
  usageGranularities,
  usageParts,
  usageRange,
  usageRanges,
} from '../../analytics/index.ts';
import {
  type Context,
  FileAnswer,
  type Id,
  idOf,
  named,
  nullable,
  oneOf,
  operation,
  Time,
  TimeIn,
} from '../../kernel/index.ts';
import { getChild, holders, resellerCaller } from '../audience.ts';
import { listChildIds } from './store.ts';

export const childGroupings = ['child', 'model', 'day'] as const;

export const ChildUsageView = named(
  'ResellerUsage',
  Type.Object({
    object: Type.Literal('usage'),
    range: named(
      'ResellerUsagePeriod',
      Type.Object({ from: Time, to: Time, granularity: oneOf(usageGranularities, 'UsageGranularity') }),
    ),
    group_by: nullable(oneOf(childGroupings, 'ResellerUsageGrouping')),
    ...usageParts,
  }),
);
type ChildUsageView = Static<typeof ChildUsageView>;

const asked = {
  range: Type.Optional(oneOf(usageRanges, 'UsageRange')),
  from: Type.Optional(TimeIn),
  to: Type.Optional(TimeIn),
  granularity: Type.Optional(oneOf(usageGranularities, 'UsageGranularity')),
  group_by: Type.Optional(oneOf(childGroupings, 'ResellerUsageGrouping')),
  group_series: groupSeriesInput,
  format: Type.Optional(oneOf(['json', 'csv'], 'TableFormat')),
};
const AllInput = Type.Object(asked);

const figures = {
  ...{ requests: 3, ok: 3, errors: 0, input_tokens: 2_436, output_tokens: 288 },
  ...{ cache_read_tokens: 0, cache_write_tokens: 0, reasoning_tokens: 0, cost_micro: 8_439 },
};
const example: ChildUsageView = {
  object: 'usage',
  range: { from: '2026-11-21T00:00:00.000Z', to: '2026-11-22T00:00:00.000Z', granularity: 'day' },
  group_by: 'child',
  totals: figures,
  series: [{ bucket: '2026-11-21T00:00:00.000Z', ...figures }],
  groups: [{ key: 'org_01KACZ3V8S6T5R4Q3P2N1M0K9K', ...figures }],
};

/** What the sums of each grouping are made by; days are buckets. */
const KEYS = { child: 'org', model: 'model', day: null, none: null } as const;

async function usageOf(
  context: Context,
  org_ids: readonly Id<'org'>[],
  input: Static<typeof AllInput>,
): Promise<ChildUsageView | FileAnswer> {
  const group = input.group_by ?? null;
  const by_day = group === 'day' ? { ...input, granularity: 'day' as const } : input;
  const range = usageRange(by_day, context.now().getTime());
  const span = { from: new Date(range.from), to: new Date(range.to) };
  const reader = readerOf({ ...context, db: context.acrossOrgs.db });
  const by = { starts: range.starts, group: KEYS[group ?? 'none'] };
  const found = org_ids.length === 0 ? [] : await reader.sumOrgs({ org_ids, ...span }, by);
  const dayOf = (bucket: Date) => bucket.toISOString().slice(0, 10);
  const sums = group === 'day' ? found.map((sum) => ({ ...sum, key: dayOf(sum.bucket) })) : found;
  if (input.format === 'csv') {
    return new FileAnswer({
      content_type: 'text/csv; charset=utf-8',
      filename: `customers-usage-${context.now().toISOString().slice(0, 10)}.csv`,
      body: exportOf(sums, range, group),
    });
  }
  return {
    object: 'usage' as const,
    range: { from: span.from.toISOString(), to: span.to.toISOString(), granularity: range.unit },
    group_by: group,
    ...(input.group_series === true
      ? allPartsOf(sums, range, group)
      : partsOf({ series: sums, groups: sums }, range, group)),
  };
}

export const resellerUsageOperation = operation({
  name: 'reseller.usage',
  method: 'GET',
  path: '/v1/reseller/usage',
  summary: 'Sum the live calls of all customers, by customer or model, as JSON or CSV',
  audience: holders('reseller.read'),
  input: AllInput,
  output: ChildUsageView,
  errors: ['grant_required', 'range_too_long'],
  produces: 'text/csv',
  example,
  async run(context, input) {
    const { org_id: parent_org_id } = resellerCaller(context);
    return usageOf(context, await listChildIds(context.acrossOrgs.db, parent_org_id), input);
  },
});

export const childUsageOperation = operation({
  name: 'reseller.children.usage',
  method: 'GET',
  path: '/v1/reseller/children/:id/usage',
  summary: 'Sum the live calls of a customer, by model, as JSON or CSV',
  audience: holders('reseller.read'),
  input: Type.Object({ id: idOf('org'), ...asked }),
  output: ChildUsageView,
  errors: ['grant_required', 'range_too_long'],
  produces: 'text/csv',
  example: { ...example, group_by: 'model', groups: [{ key: 'acme/fast-1', ...figures }] },
  run: async (context, { id, ...input }) => usageOf(context, [(await getChild(context, id)).id], input),
});
