// Wire shape of refunds.
import { type Static, Type } from 'typebox';
import { idOf, named, nullable, oneOf, Time } from '../kernel/index.ts';
import { railNames } from '../topups/index.ts';
import { taxOf } from './proportion.ts';
import { type Refund, refundStatuses } from './types.ts';

export const RefundView = named(
  'Refund',
  Type.Object({
    id: idOf('refund'),
    org_id: idOf('org'),
    topup_id: idOf('topup'),
    gateway: oneOf(railNames, 'Rail'),
    payment_ref: Type.String(),
    gateway_ref: nullable(Type.String({ description: "the rail's name of it" })),
    currency: Type.String(),
    amount_minor: Type.Integer({ description: 'price of the credits without tax' }),
    tax_minor: Type.Integer(),
    total_minor: Type.Integer({ description: 'what goes back' }),
    fx_rate: Type.String({ description: 'decimal with 8 places, of the top-up' }),
    credits_micro: Type.Integer(),
    credit_note_id: nullable(idOf('credit_note')),
    status: oneOf(refundStatuses, 'RefundStatus'),
    at_rail: Type.Boolean({ description: 'false: pending, and the payment rail does not have it yet' }),
    reason: Type.String({ description: '`rail`: it was made at the rail, and nobody asked for it here' }),
    failure_code: Type.String({ description: 'empty when it did not fail' }),
    created_at: Time,
    settled_at: nullable(Time),
    replay: Type.Boolean({ description: 'it was asked for before with this key' }),
  }),
);
type RefundView = Static<typeof RefundView>;

/** A refund as the API shows it. */
export function viewRefund(refund: Refund, replay = false): RefundView {
  return {
    id: refund.id,
    org_id: refund.org_id,
    topup_id: refund.topup_id,
    gateway: refund.gateway,
    payment_ref: refund.payment_ref,
    gateway_ref: refund.gateway_ref,
    currency: refund.currency,
    amount_minor: refund.amount_minor,
    tax_minor: taxOf(refund),
    total_minor: refund.total_minor,
    fx_rate: refund.fx_rate,
    credits_micro: refund.credits_micro,
    credit_note_id: refund.credit_note_id,
    status: refund.status,
    at_rail: refund.gateway_ref !== null,
    reason: refund.reason,
    failure_code: refund.failure_code ?? '',
    created_at: refund.created_at.toISOString(),
    settled_at: refund.settled_at?.toISOString() ?? null,
    replay,
  };
}
