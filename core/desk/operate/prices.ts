// What prices and exchange rates were when, as staff read it. Nothing is changed here (`../prices/`).
import { type Static, Type } from 'typebox';
import { listPriceRecords, type PriceRecord } from '../../catalog/index.ts';
import { writeAudit } from '../../identity/index.ts';
import {
  type Context,
  idOf,
  lineOf,
  nullable,
  oneOf,
  operation,
  page,
  pageInput,
  pageOf,
  Time,
  walkPage,
} from '../../kernel/index.ts';
import { findFetch, listDays, moneyIn, rateText, readRates, staticRates } from '../../topups/index.ts';

const readers = { kind: 'staff', roles: ['finance', 'support', 'catalog'] } as const;
const DAYS_MAX = 60;
const PAGE = 50;

export const fxSources = ['static', 'ecb', 'json'] as const;
export const fxDayStates = ['in_force', 'waiting'] as const;

const RateView = Type.Object({
  currency: Type.String(),
  rate: Type.String({ description: 'units per US dollar, a decimal with 8 places' }),
});

const FxDayView = Type.Object({
  day: Type.String({ format: 'date' }),
  state: oneOf(fxDayStates),
  is_set: Type.Boolean({ description: 'two members of staff set it' }),
  fetched_at: nullable(Time),
  decided_at: nullable(
    Type.String({ format: 'date-time', description: 'when staff took a day on which a rate jumped' }),
  ),
  rates: Type.Array(RateView),
});

export const FxView = Type.Object({
  source: oneOf(fxSources),
  day: nullable(Type.String({ format: 'date', description: 'by which is sold; null: none has come yet' })),
  stale: Type.Boolean({ description: 'the newest day is more than four days old' }),
  tried_at: nullable(Time),
  error: nullable(Type.String({ description: 'why the last try brought nothing' })),
  days: Type.Array(FxDayView, {
    description: `the newest ${DAYS_MAX} of the source; one for the table of the release`,
  }),
});

const rates = (table: Readonly<Record<string, number>>) =>
  Object.entries(table).map(([currency, rate_e8]) => ({ currency, rate: rateText(rate_e8) }));

/** The days of the source; the table of the release is a day that was not fetched. */
async function daysOf({ db, services }: Context): Promise<Static<typeof FxDayView>[]> {
  const { kind } = moneyIn({ services }).fx;
  const kept = await listDays(db, { source: kind, limit: DAYS_MAX });
  const days = kept.map(({ fx_day, state, fetched_at, decided_at, is_set, rates: table }) => ({
    ...{ day: fx_day, state, is_set, rates: rates(table), fetched_at: fetched_at.toISOString() },
    decided_at: decided_at?.toISOString() ?? null,
  }));
  if (kind !== 'static') return days;
  const { fx_day: day, table } = staticRates;
  const own = { state: 'in_force', is_set: false, fetched_at: null, decided_at: null } as const;
  return day === null ? days : [...days, { ...own, day, rates: rates(table) }];
}

export const getFxOperation = operation({
  name: 'staff.fx.get',
  method: 'GET',
  path: '/staff/fx',
  summary: 'Read the exchange rates of the last days, and how the source does',
  audience: readers,
  input: Type.Object({}),
  output: FxView,
  errors: [],
  example: {
    ...{ source: 'ecb', day: '2026-11-20', stale: false, tried_at: '2026-11-21T00:15:00.000Z', error: null },
    days: [
      {
        ...{ day: '2026-11-20', state: 'in_force', is_set: false, decided_at: null },
        fetched_at: '2026-11-20T15:30:02.000Z',
        rates: [{ currency: 'INR', rate: '88.70000000' }],
      },
    ],
  },
  run: (context) =>
    context.transaction(async (context) => {
      const { db } = context;
      await writeAudit(context, { action: 'staff.fx.get', org_id: null });
      const source = moneyIn(context).fx;
      const present = await readRates(db, source, context.now());
      const fetched = await findFetch(db, source.kind);
      return {
        ...{ source: source.kind, day: present.fx_day, stale: present.stale },
        tried_at: fetched?.tried_at.toISOString() ?? null,
        error: fetched?.error ?? null,
        days: await daysOf(context),
      };
    }),
});

export const PriceVersionView = Type.Object({
  id: idOf('price'),
  model: Type.String(),
  endpoint_id: idOf('endpoint'),
  provider: Type.String(),
  region: Type.String(),
  use: Type.String({ description: '`standard`, `test` (sandbox keys), or a service tier' }),
  rates: Type.Array(
    Type.Object({
      kind: Type.String({ description: '`input`, `output`, `cache_read`, …' }),
      usd_per_million: Type.Number(),
    }),
  ),
  bands: Type.Integer({ description: 'further prices for long prompts' }),
  own_key_fee_bps: nullable(Type.Integer({ description: 'share of the list cost, for callers’ own keys' })),
  effective_from: Time,
  effective_until: nullable(
    Type.String({ format: 'date-time', description: 'when another price followed; null: it holds' }),
  ),
});

/** Nano-USD per token is USD per million × 1,000. */
function viewPrice(record: PriceRecord): Static<typeof PriceVersionView> {
  const { price_id, model, endpoint_id, provider, region, use, content } = record;
  const of = Object.entries(content.rates) as [string, number][];
  return {
    ...{ id: price_id, model, endpoint_id, provider, region, use },
    rates: of.map(([kind, nano]) => ({ kind, usd_per_million: nano / 1_000 })),
    bands: content.bands.length,
    own_key_fee_bps: content.fee_bps ?? null,
    effective_from: record.effective_from.toISOString(),
    effective_until: record.effective_until?.toISOString() ?? null,
  };
}

export const listPricesOperation = operation({
  name: 'staff.prices.list',
  method: 'GET',
  path: '/staff/prices',
  summary: 'List what endpoints cost from when on, newest first',
  audience: readers,
  input: Type.Object({
    model: Type.Optional(lineOf(200)),
    ...pageInput(200),
  }),
  output: pageOf(PriceVersionView),
  errors: [],
  example: { object: 'list', data: [], next_cursor: '' },
  run: (context, input) =>
    context.transaction(async (context) => {
      const model = input.model?.trim() || null;
      await writeAudit(context, { action: 'staff.prices.list', org_id: null, after: { model } });
      const { rows, next_cursor, cursorAt } = await walkPage(context, {
        bound: `staff.prices ${model ?? ''}`,
        cursor: input.cursor,
        limit: input.limit ?? PAGE,
        read: (after, limit) => listPriceRecords(context.db, { model, before: after?.at ?? null, limit }),
        placeOf: ({ history_no }) => ({ at: history_no, id: '' }),
      });
      return page(rows.map(viewPrice), next_cursor, cursorAt);
    }),
});
