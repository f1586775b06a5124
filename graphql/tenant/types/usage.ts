// Spend over time.
import {
  getUsageOperation,
  UsageView,
  usageGranularities,
  usageGroupings,
  usageRanges,
} from '@svc/core/analytics/index.ts';
import { toWire } from '../../derive.ts';
import { builder, derive } from '../builder.ts';

derive.enum('UsageRange', usageRanges);
derive.enum('UsageGranularity', usageGranularities);
derive.enum('UsageGroup', usageGroupings);

const names = {
  range: 'UsageWindow',
  totals: 'UsageTotals',
  serie: 'UsageBucket',
  series: 'UsageBucket',
  group: 'UsageGroupRow',
  group_serie: 'UsageGroupBucket',
};
const Usage = derive.output('Usage', UsageView, { names, omit: ['object'] });

builder.queryField('usage', (t) =>
  t.field({
    type: Usage,
    nullable: true,
    description: 'Calls, tokens and cost over a range; every way of grouping them adds up to the same sums.',
    args: derive.args(t.arg, 'Usage', getUsageOperation.input) as Record<string, never>,
    // A scan of the whole range: more expensive than a page of rows.
    complexity: { field: 50 },
    extensions: { operation: getUsageOperation.name },
    resolve: (_root, args, { runner }) =>
      runner.run(getUsageOperation, toWire(getUsageOperation.input, args as Record<string, unknown>)),
  }),
);
