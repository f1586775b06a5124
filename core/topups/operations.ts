// Quote, make, read and cancel top-ups.
import { Type } from 'typebox';
import {
  type Context,
  type Id,
  idOf,
  isId,
  notFound,
  operation,
  orgCaller,
  page,
  pageInput,
  pageOf,
  walkPage,
} from '../kernel/index.ts';
import { cancelTopup, createTopup, quoteFor } from './create.ts';
import { newestDisputes } from './disputes/store.ts';
import { checkoutUrl } from './pay-link.ts';
import type { Quote } from './quote.ts';
import { CreatedView, QuoteView, TopupView, viewTopup } from './schema.ts';
import { findTopup, listTopups } from './store.ts';
import type { Topup } from './types.ts';

const roles = ['owner', 'admin', 'billing'] as const;
const readers = { kind: 'key', scopes: ['read:credits'], session: roles } as const;
const rows = { ...readers, while_closed: true } as const;
const payers = { kind: 'key', scopes: ['manage:credits'], session: roles, sandbox: false } as const;
const DEFAULT_LIMIT = 50;
const Amount = Type.Integer({
  minimum: 1,
  maximum: Number.MAX_SAFE_INTEGER,
  description:
    'smallest unit of the currency, without tax; between the least and the most of the payment rail',
});

const quoteExample = {
  rail: 'rail-b',
  currency: 'USD',
  amount_minor: 2_500,
  tax_minor: 0,
  total_minor: 2_500,
  credits_micro: 25_000_000,
  fx_rate: '1.00000000',
  fx_day: '2026-11-20',
  fees: { rail: 'rail-b' as const, items: [{ method: 'card', bps: 290, fixed_minor: 30 }] },
  min_amount_minor: 500,
  display: '$25.00 for $25.00 of credits',
} as const;
const topupExample = {
  id: 'tup_01KACZ3V8S6T5R4Q3P2N1M0K9G',
  org_id: 'org_01KACZ3V8S6T5R4Q3P2N1M0K9H',
  gateway: 'rail-b',
  gateway_ref: 'cs_test_a1',
  payment_ref: null,
  currency: 'USD',
  amount_minor: 2_500,
  tax_minor: 0,
  total_minor: 2_500,
  fee_minor: null,
  fx_rate: '1.00000000',
  credits_micro: 25_000_000,
  method: null,
  status: 'pending',
  invoice_id: null,
  invoice_number: null,
  source: 'checkout',
  refunded_minor: 0,
  refunded_credits_micro: 0,
  disputed: false,
  dispute: null,
  failure_code: '',
  failure_message: '',
  mandate_id: null,
  created_at: '2026-11-21T10:00:00.000Z',
  expires_at: '2026-11-22T09:00:00.000Z',
  paid_at: null,
} as const;

function shownQuote(quote: Quote) {
  return { ...quote, fees: { rail: quote.fees.rail, items: [...quote.fees.items] } };
}

/** Top-ups as their people see them. */
async function shown(context: Context, topups: readonly Topup[]): Promise<TopupView[]> {
  const paid = topups.filter(({ paid_at }) => paid_at !== null);
  const disputes = await newestDisputes(
    context.db,
    paid.map(({ id }) => id),
  );
  return topups.map((topup) => {
    const { checkout_url } = topup;
    return viewTopup(topup, {
      checkout_url: checkout_url === null ? null : checkoutUrl(context, { ...topup, checkout_url }),
      dispute: disputes.get(topup.id) ?? null,
    });
  });
}

async function shownOne(context: Context, topup: Topup): Promise<TopupView> {
  return (await shown(context, [topup]))[0] as TopupView;
}

/** Top-ups are live rows: a test key of the same organization finds none. */
function ownId(context: Context, text: string): { org_id: Id<'org'>; id: Id<'topup'> } {
  const { org_id, environment } = orgCaller(context);
  if (environment !== 'live' || !isId('topup', text)) throw notFound();
  return { org_id, id: text };
}

export const quoteTopupOperation = operation({
  name: 'credits.topups.quote',
  method: 'GET',
  path: '/v1/credits/topups/quote',
  summary: 'What an amount buys, with tax; the rate binds for 15 minutes',
  audience: readers,
  input: Type.Object({ amount_minor: Amount }),
  output: QuoteView,
  errors: ['amount_too_large', 'currency_not_supported', 'fx_stale'],
  example: { ...quoteExample, fees: { rail: 'rail-b', items: [...quoteExample.fees.items] } },
  async run(context, { amount_minor }) {
    const { org_id } = orgCaller(context);
    return shownQuote(await quoteFor(context, { org_id, amount_minor }));
  },
});

export const createTopupOperation = operation({
  name: 'credits.topups.create',
  method: 'POST',
  path: '/v1/credits/topups',
  summary: 'Start a top-up and get the address to pay at',
  audience: payers,
  input: Type.Object({ amount_minor: Amount }),
  output: CreatedView,
  errors: [
    'legal_acceptance_required',
    'amount_too_small',
    'amount_too_large',
    'currency_not_supported',
    'invalid_gstin',
    'rail_unavailable',
    'conflict',
    'fx_stale',
  ],
  status: 201,
  idempotent: true,
  // The rail is asked between the row and its answer; run again, it makes another pending row that nobody can pay.
  own_transactions: true,
  request: { amount_minor: 2_500 },
  example: {
    topup: { ...topupExample, checkout_url: 'https://rail.example/pay/cs_test_a1' },
    checkout_url: 'https://rail.example/pay/cs_test_a1',
    quote: { ...quoteExample, fees: { rail: 'rail-b', items: [...quoteExample.fees.items] } },
  },
  async run(context, { amount_minor }) {
    const { org_id } = orgCaller(context);
    const { topup, checkout_url, quote } = await createTopup(context, { org_id, amount_minor });
    return { topup: { ...viewTopup(topup), checkout_url }, checkout_url, quote: shownQuote(quote) };
  },
});

export const listTopupsOperation = operation({
  name: 'credits.topups.list',
  method: 'GET',
  path: '/v1/credits/topups',
  summary: 'List top-ups, newest first',
  audience: rows,
  input: Type.Object(pageInput(200)),
  output: pageOf(TopupView),
  errors: [],
  example: { object: 'list', data: [topupExample], next_cursor: '' },
  async run(context, input) {
    const { org_id, environment } = orgCaller(context);
    if (environment !== 'live') return page([], '');
    const { rows, next_cursor, cursorAt } = await walkPage(context, {
      bound: `topups ${org_id}`,
      cursor: input.cursor,
      limit: input.limit ?? DEFAULT_LIMIT,
      read: (after, limit) =>
        listTopups(context.db, {
          org_id,
          before: after === null ? null : { at: new Date(after.at), id: after.id },
          limit,
        }),
      placeOf: (topup) => ({ at: topup.created_at.getTime(), id: topup.id }),
    });
    return page(await shown(context, rows), next_cursor, cursorAt);
  },
});

export const getTopupOperation = operation({
  name: 'credits.topups.get',
  method: 'GET',
  path: '/v1/credits/topups/:id',
  summary: 'Read one top-up',
  audience: rows,
  input: Type.Object({ id: idOf('topup') }),
  output: TopupView,
  errors: [],
  example: topupExample,
  async run(context, { id }) {
    const topup = await findTopup(context.db, ownId(context, id));
    if (topup === null) throw notFound();
    return shownOne(context, topup);
  },
});

export const cancelTopupOperation = operation({
  name: 'credits.topups.cancel',
  method: 'POST',
  path: '/v1/credits/topups/:id/cancel',
  summary: 'Cancel a top-up that is still pending',
  audience: payers,
  input: Type.Object({ id: idOf('topup') }),
  output: TopupView,
  errors: ['state_conflict'],
  example: { ...topupExample, status: 'expired' },
  async run(context, { id }) {
    return shownOne(context, await cancelTopup(context, ownId(context, id)));
  },
});

export const topupOperations = [
  quoteTopupOperation,
  createTopupOperation,
  listTopupsOperation,
  getTopupOperation,
  cancelTopupOperation,
] as const;
