// What staff do with payments that differ from what was asked. Each act is an entry of the audit log, in the transaction of
// the act.
import { Type } from 'typebox';
import { askSecondPerson } from '../../approvals/index.ts';
import {
  type Context,
  idOf,
  isId,
  lineOf,
  listOf,
  named,
  notFound,
  nullable,
  operation,
  Time,
} from '../../kernel/index.ts';
import type { Topup } from '../types.ts';
import { acceptReview, listReviews, type Review, readReviewWorth, refuseReview } from './decide.ts';

/** Acts that a second person may have to approve. */
export const ACCEPT = 'staff.topups.accept';
export const REFUSE = 'staff.topups.refuse';
const finance = { kind: 'staff', roles: ['finance'] } as const;

const Minor = Type.Integer();
export const ReviewView = named(
  'TopupReview',
  Type.Object({
    id: idOf('topup'),
    org_id: idOf('org'),
    gateway: Type.String(),
    gateway_ref: nullable(Type.String()),
    payment_ref: nullable(Type.String()),
    currency: Type.String(),
    total_minor: Type.Integer({ description: 'what was asked, tax included' }),
    credits_micro: Type.Integer(),
    paid_minor: Type.Integer({ description: 'what was paid, tax included' }),
    paid_currency: Type.String(),
    created_at: Time,
    org_name: Type.String(),
    offer: nullable(
      Type.Object(
        { amount_minor: Minor, tax_minor: Minor, credits_micro: Minor },
        { description: 'what the payment buys when it is accepted; null: it can only be refused' },
      ),
    ),
  }),
);
const DecidedView = named(
  'TopupDecided',
  Type.Object({
    id: idOf('topup'),
    status: Type.String(),
    credits_micro: Type.Integer(),
    invoice_id: nullable(idOf('invoice')),
    invoice_number: nullable(Type.String({ description: 'what people call its document' })),
  }),
);
const reviewExample = {
  id: 'tup_01KACZ3V8S6T5R4Q3P2N1M0K9G',
  org_id: 'org_01KACZ3V8S6T5R4Q3P2N1M0K9H',
  gateway: 'rail-a',
  gateway_ref: 'order_1',
  payment_ref: 'pay_1',
  currency: 'INR',
  total_minor: 118_000,
  credits_micro: 11_107_346,
  paid_minor: 117_999,
  paid_currency: 'INR',
  created_at: '2026-11-21T10:00:00.000Z',
  org_name: 'Acme',
  offer: { amount_minor: 99_999, tax_minor: 18_000, credits_micro: 11_107_235 },
};

function viewReview({ topup, org_name, paid_minor, paid_currency, offer }: Review) {
  return {
    id: topup.id,
    org_id: topup.org_id,
    gateway: topup.gateway,
    gateway_ref: topup.gateway_ref,
    payment_ref: topup.payment_ref,
    currency: topup.currency,
    total_minor: topup.total_minor,
    credits_micro: topup.credits_micro,
    paid_minor,
    paid_currency,
    created_at: topup.created_at.toISOString(),
    org_name,
    offer:
      offer === null
        ? null
        : {
            amount_minor: offer.amount_minor,
            tax_minor: offer.tax_minor,
            credits_micro: offer.credits_micro,
          },
  };
}

function viewDecided({ id, status, credits_micro, invoice_id, invoice_number }: Topup) {
  return { id, status, credits_micro, invoice_id, invoice_number };
}

function topupId(text: string): Topup['id'] {
  if (!isId('topup', text)) throw notFound();
  return text;
}

export const listReviewsOperation = operation({
  name: 'staff.topups.reviews',
  method: 'GET',
  path: '/staff/topups/reviews',
  summary: 'List payments that differ from what was asked and wait for a decision, oldest first',
  audience: { kind: 'staff', roles: ['finance', 'support'] },
  input: Type.Object({}),
  output: listOf(ReviewView),
  errors: [],
  example: { object: 'list', data: [reviewExample] },
  async run(context) {
    return { object: 'list' as const, data: (await listReviews(context)).map(viewReview) };
  },
});

/** @throws ServiceError pending_approval for a payment that one person does not decide. */
async function askFor(
  context: Context,
  { action, id, reason }: { action: string; id: Topup['id']; reason: string },
): Promise<void> {
  const worth = await readReviewWorth(context, id);
  if (worth === null) return;
  await askSecondPerson(context, { ...worth, action, input: { id, reason }, reason });
}

const Act = Type.Object({ id: idOf('topup'), reason: lineOf(500) });

export const acceptTopupOperation = operation({
  name: ACCEPT,
  method: 'POST',
  path: '/staff/topups/:id/accept',
  summary: 'Accept what was paid: amount, tax and credits follow from it, and it is booked with its document',
  audience: finance,
  input: Act,
  output: DecidedView,
  errors: ['state_conflict', 'pending_approval'],
  example: {
    id: reviewExample.id,
    status: 'paid',
    credits_micro: 11_107_235,
    invoice_id: 'inv_01KACZ3V8S6T5R4Q3P2N1M0K9J',
    invoice_number: 'INV/26-27/00001',
  },
  async run(context, { id, reason }) {
    const act = { action: ACCEPT, id: topupId(id), reason };
    await askFor(context, act);
    return viewDecided(await acceptReview(context, act));
  },
});

export const refuseTopupOperation = operation({
  name: REFUSE,
  method: 'POST',
  path: '/staff/topups/:id/refuse',
  summary: 'Refuse what was paid: it goes back whole at the rail, and the top-up has failed',
  audience: finance,
  input: Act,
  output: DecidedView,
  errors: ['state_conflict', 'pending_approval'],
  example: {
    ...{ id: reviewExample.id, status: 'failed', credits_micro: 11_107_346 },
    ...{ invoice_id: null, invoice_number: null },
  },
  async run(context, { id, reason }) {
    const act = { action: REFUSE, id: topupId(id), reason };
    await askFor(context, act);
    return viewDecided(await refuseReview(context, act));
  },
});

export const staffTopupOperations = [
  listReviewsOperation,
  acceptTopupOperation,
  refuseTopupOperation,
] as const;
