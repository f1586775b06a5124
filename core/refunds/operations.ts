// Ask for, list and read refunds.
import { Type } from 'typebox';
import {
  type Context,
  type Id,
  idOf,
  invalid,
  isId,
  lineOf,
  monotonicMs,
  named,
  notFound,
  operation,
  orgCaller,
  page,
  pageInput,
  pageOf,
  walkPage,
} from '../kernel/index.ts';
import { moneyIn } from '../topups/index.ts';
import { requestRefund } from './request.ts';
import { RefundView, viewRefund } from './schema.ts';
import { findRefund, listRefunds } from './store.ts';
import type { Refund } from './types.ts';

const roles = ['owner', 'admin', 'billing'] as const;
const readers = { kind: 'key', scopes: ['read:credits'], session: roles, while_closed: true } as const;
const payers = { kind: 'key', scopes: ['manage:credits'], session: roles, sandbox: false } as const;
const DEFAULT_LIMIT = 50;
const LOOK_MS = 250;
const Answer = named('RefundAnswer', Type.Object({ refund: RefundView }));

/** What the documentation shows. */
export const refundExample = {
  id: 'rfd_01KACZ3V8S6T5R4Q3P2N1M0K9G',
  org_id: 'org_01KACZ3V8S6T5R4Q3P2N1M0K9H',
  topup_id: 'tup_01KACZ3V8S6T5R4Q3P2N1M0K9G',
  gateway: 'rail-b',
  payment_ref: 'pi_a1',
  gateway_ref: 're_a1',
  currency: 'USD',
  amount_minor: 1_000,
  tax_minor: 0,
  total_minor: 1_000,
  fx_rate: '1.00000000',
  credits_micro: 10_000_000,
  credit_note_id: 'cn_01KACZ3V8S6T5R4Q3P2N1M0K9J',
  status: 'refunded',
  at_rail: true,
  reason: 'bought too much',
  failure_code: '',
  created_at: '2026-11-21T10:00:00.000Z',
  settled_at: '2026-11-21T10:00:02.000Z',
  replay: false,
} as const;

/** Refunds are of live rows: a test key of the same organization finds none. */
function liveOrg(context: Context): Id<'org'> {
  const { org_id, environment } = orgCaller(context);
  if (environment !== 'live') throw notFound();
  return org_id;
}

/** The key of the body and that of the header name the same refund. @throws ServiceError where they differ. */
function keyOf(context: Context, body: string | undefined): string | null {
  const header = context.requestHeader('idempotency-key');
  if (body === undefined || header === null || header === body) return body ?? header;
  const words = 'The key of the body and the header Idempotency-Key are not the same.';
  throw invalid('idempotency_key', 'mismatch', words);
}

/** Waits until a refund has an end, at most as long as callers are kept waiting, and returns it as it then is. */
async function awaitEnd(context: Context, refund: Refund): Promise<Refund> {
  const until_ms = monotonicMs() + moneyIn(context).refund_wait_ms;
  let seen = refund;
  while (seen.status === 'pending' && monotonicMs() < until_ms) {
    await new Promise((done) => setTimeout(done, LOOK_MS));
    seen = (await findRefund(context.db, { id: refund.id, org_id: null })) ?? seen;
  }
  return seen;
}

export const refundTopupOperation = operation({
  name: 'credits.topups.refund',
  method: 'POST',
  path: '/v1/credits/topups/:id/refund',
  summary: 'Refund unused credits of a top-up',
  audience: payers,
  input: Type.Object({
    id: idOf('topup'),
    amount_minor: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: Number.MAX_SAFE_INTEGER,
        description:
          'smallest unit of the currency, without tax; all that can be refunded when it is left out',
      }),
    ),
    reason: Type.Optional(lineOf(500)),
    idempotency_key: Type.Optional(
      Type.String({
        pattern: '^[\\x20-\\x7e]{1,128}$',
        description: 'the same again returns the same refund, without a limit of time; also the header',
      }),
    ),
  }),
  output: Answer,
  errors: [
    'state_conflict',
    'payment_hold',
    'refund_in_progress',
    'refund_exceeds_unused',
    'refund_window_closed',
    'idempotency_conflict',
    'rail_unavailable',
    'service_unavailable',
  ],
  status: 201,
  isReplay: ({ refund }) => refund.replay,
  // The row is committed before its credits are taken, and stays where the ledger refuses them.
  own_transactions: true,
  request: { amount_minor: 1_000, reason: 'bought too much', idempotency_key: 'order-17' },
  example: { refund: refundExample },
  async run(context, { id, amount_minor, reason, idempotency_key }) {
    const org_id = liveOrg(context);
    if (!isId('topup', id)) throw notFound();
    const { refund, replay } = await requestRefund(context, {
      org_id,
      topup_id: id,
      amount_minor: amount_minor ?? null,
      reason: reason ?? '',
      idempotency_key: keyOf(context, idempotency_key),
    });
    return { refund: viewRefund(replay ? refund : await awaitEnd(context, refund), replay) };
  },
});

export const listRefundsOperation = operation({
  name: 'credits.refunds.list',
  method: 'GET',
  path: '/v1/credits/refunds',
  summary: 'List refunds, newest first',
  audience: readers,
  input: Type.Object({ ...pageInput(200), topup_id: Type.Optional(idOf('topup')) }),
  output: pageOf(RefundView),
  errors: [],
  example: { object: 'list', data: [refundExample], next_cursor: '' },
  async run(context, input) {
    const { org_id, environment } = orgCaller(context);
    if (environment !== 'live') return page([], '');
    const topup_id = input.topup_id ?? null;
    if (topup_id !== null && !isId('topup', topup_id)) return page([], '');
    const { rows, next_cursor, cursorAt } = await walkPage(context, {
      bound: `refunds ${org_id} ${topup_id ?? ''}`,
      cursor: input.cursor,
      limit: input.limit ?? DEFAULT_LIMIT,
      read: (after, limit) =>
        listRefunds(context.db, {
          org_id,
          topup_id,
          before: after === null ? null : { at: new Date(after.at), id: after.id },
          limit,
        }),
      placeOf: (refund) => ({ at: refund.created_at.getTime(), id: refund.id }),
    });
    return page(
      rows.map((refund) => viewRefund(refund)),
      next_cursor,
      cursorAt,
    );
  },
});

export const getRefundOperation = operation({
  name: 'credits.refunds.get',
  method: 'GET',
  path: '/v1/credits/refunds/:id',
  summary: 'Read one refund',
  audience: readers,
  input: Type.Object({ id: idOf('refund') }),
  output: Answer,
  errors: [],
  example: { refund: refundExample },
  async run(context, { id }) {
    const org_id = liveOrg(context);
    if (!isId('refund', id)) throw notFound();
    const refund = await findRefund(context.db, { id, org_id });
    if (refund === null) throw notFound();
    return { refund: viewRefund(refund) };
  },
});

export const refundOperations = [refundTopupOperation, listRefundsOperation, getRefundOperation] as const;
