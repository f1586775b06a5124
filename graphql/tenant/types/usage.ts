// Spend over time.
import {
  adviceKinds,
  adviceRanges,
  createUsageViewOperation,
  deleteUsageViewOperation,
  getUsageAdviceOperation,
  getUsageOperation,
  listUsageViewsOperation,
  SavedUsageView,
  UsageAdviceView,
  UsageView,
  updateUsageViewOperation,
  usageGranularities,
  usageGroupings,
  usageRanges,
} from '@svc/core/analytics/index.ts';
import { toWire } from '../../derive.ts';
import { builder, derive } from '../builder.ts';
import { mutation } from '../mutation.ts';

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

derive.enum('AdviceKind', adviceKinds);
derive.enum('AdviceRange', adviceRanges);
const Advice = derive.output('UsageAdvice', UsageAdviceView, {
  description: 'What calls could have cost less, each sentence with the query that proves it.',
  names: { range: 'UsageAdviceWindow', data: 'AdviceItem' },
  omit: ['object'],
});

const View = derive.output('SavedUsageView', SavedUsageView, {
  description: 'A question about usage that is kept under a name.',
});

builder.queryFields((t) => ({
  usageAdvice: t.field({
    type: Advice,
    nullable: true,
    description: 'What calls could have cost less, from rows and prices alone.',
    args: derive.args(t.arg, 'UsageAdvice', getUsageAdviceOperation.input) as Record<string, never>,
    complexity: { field: 50 },
    extensions: { operation: getUsageAdviceOperation.name },
    resolve: (_root, args, { runner }) =>
      runner.run(
        getUsageAdviceOperation,
        toWire(getUsageAdviceOperation.input, args as Record<string, unknown>),
      ),
  }),
  usageViews: t.field({
    type: [View],
    nullable: true,
    description: 'Saved views by name: your own, and those that are shared.',
    extensions: { operation: listUsageViewsOperation.name },
    resolve: async (_root, _args, { runner }) => (await runner.run(listUsageViewsOperation, {})).data,
  }),
}));

interface Payload {
  readonly answer: unknown;
}
type Fields = Parameters<Parameters<typeof mutation>[0]['payload']>[0];
const withView = (t: Fields) => ({
  view: t.field({ type: View, resolve: ({ answer }: Payload) => answer }),
});

mutation({
  name: 'createUsageView',
  operation: createUsageViewOperation,
  input: createUsageViewOperation.input,
  description: 'Keeps a question about usage under a name.',
  payload: withView,
});

mutation({
  name: 'updateUsageView',
  operation: updateUsageViewOperation,
  input: updateUsageViewOperation.input,
  description: 'Changes what is given of a saved view.',
  payload: withView,
});

mutation({
  name: 'deleteUsageView',
  operation: deleteUsageViewOperation,
  input: deleteUsageViewOperation.input,
  description: 'Deletes a saved view.',
  payload: (t) => ({ deleted: t.boolean({ resolve: () => true }) }),
});
