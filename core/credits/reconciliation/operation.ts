// The reconciliation as customers and staff read it.
import { type Static, Type } from 'typebox';
import { csv, FileAnswer, named, oneOf, operation } from '../../kernel/index.ts';
import { callersBook } from '../book.ts';
import { type ReconciliationDay, totalsOf } from './days.ts';
import { rangeOf, reconcile } from './report.ts';

const figures = {
  opening_micro: Type.Integer({ description: 'balance, available and held, as the day began' }),
  added_micro: Type.Integer({ description: 'entries that add: top-ups, grants, credits given back' }),
  charged_micro: Type.Integer({ description: 'what calls were charged' }),
  other_debits_micro: Type.Integer({ description: 'entries that take, but calls: refunds, fees, expiry' }),
  closing_micro: Type.Integer({ description: 'opening + added − charged − other debits' }),
  usage_micro: Type.Integer({ description: 'what the request rows of the calls settled then say' }),
  requests: Type.Integer(),
  variance_micro: Type.Integer({ description: 'charged − usage; 0 where the books agree' }),
};

const DayView = named('ReconciliationDay', Type.Object({ day: Type.String({ format: 'date' }), ...figures }));
const TotalsView = named('ReconciliationTotals', Type.Object(figures));

export const ReconciliationView = named(
  'Reconciliation',
  Type.Object({
    object: Type.Literal('reconciliation'),
    from: Type.String({ format: 'date' }),
    to: Type.String({ format: 'date', description: 'the last day, included' }),
    timezone: Type.Literal('UTC'),
    analytics: Type.Boolean({ description: 'false: request rows cannot be read, and nothing was compared' }),
    days: Type.Array(DayView),
    totals: TotalsView,
  }),
);
type ReconciliationView = Static<typeof ReconciliationView>;

/** The days to reconcile, in requests. */
export const reconciliationRange = {
  from: Type.Optional(
    Type.String({ format: 'date', description: 'first day (UTC); 29 days before `to` unless given' }),
  ),
  to: Type.Optional(
    Type.String({ format: 'date', description: 'last day, included; today unless given; at most 92 days' }),
  ),
};
const FIELDS = ['day', ...Object.keys(figures)];

const day_figures = {
  opening_micro: 10_000_000,
  added_micro: 11_107_346,
  charged_micro: 1_250_040,
  other_debits_micro: 3_802_412,
  closing_micro: 16_054_894,
  usage_micro: 1_250_040,
  requests: 2,
  variance_micro: 0,
};
/** What the documentation shows. */
export const reconciliationExample: ReconciliationView = {
  object: 'reconciliation',
  from: '2026-11-21',
  to: '2026-11-21',
  timezone: 'UTC',
  analytics: true,
  days: [{ day: '2026-11-21', ...day_figures }],
  totals: day_figures,
};

/** The report on the wire. */
export function viewReconciliation(
  range: { from: string; to: string },
  { days, analytics }: { days: readonly ReconciliationDay[]; analytics: boolean },
): ReconciliationView {
  return {
    object: 'reconciliation',
    ...{ from: range.from, to: range.to },
    timezone: 'UTC',
    analytics,
    days: days.map((day) => ({ ...day })),
    totals: totalsOf(days),
  };
}

/** The report as CSV; its last row is that of the totals, under the day `total`. */
export function reconciliationCsv({ days, totals }: ReconciliationView): string {
  return csv(FIELDS, [...days, { day: 'total', ...totals }]);
}

export const reconciliationOperation = operation({
  name: 'credits.reconciliation',
  method: 'GET',
  path: '/v1/credits/reconciliation',
  summary: 'Compare the ledger with the calls, day by day, as JSON or CSV',
  audience: { kind: 'key', scopes: ['read:credits'], session: ['owner', 'admin', 'billing'] },
  input: Type.Object({
    ...reconciliationRange,
    format: Type.Optional(oneOf(['json', 'csv'], 'TableFormat')),
  }),
  output: ReconciliationView,
  errors: ['range_too_long'],
  produces: 'text/csv',
  example: reconciliationExample,
  async run(context, input) {
    const range = rangeOf(input, context.now());
    const { org, environment } = await callersBook(context);
    const report = viewReconciliation(range, await reconcile(context, { org, environment, ...range }));
    if (input.format !== 'csv') return report;
    return new FileAnswer({
      content_type: 'text/csv; charset=utf-8',
      filename: `reconciliation-${org.slug}-${range.from}-${range.to}.csv`,
      body: reconciliationCsv(report),
    });
  },
});
