// Wire shapes of quotes and top-ups.
import { type Static, Type } from 'typebox';
import { idOf, named, nullable, oneOf, Time } from '../kernel/index.ts';
import { DisputeView, viewDispute } from './disputes/schema.ts';
import type { Dispute } from './disputes/types.ts';
import { railNames, type Topup, topupStatuses } from './types.ts';

export const QuoteView = named(
  'Quote',
  Type.Object({
    rail: oneOf(railNames, 'Rail'),
    currency: Type.String(),
    amount_minor: Type.Integer({ description: 'price of the credits without tax' }),
    tax_minor: Type.Integer(),
    total_minor: Type.Integer({ description: 'what is paid' }),
    credits_micro: Type.Integer(),
    fx_rate: Type.String({ description: 'decimal with 8 places: units of the currency per US dollar' }),
    fx_day: Type.String({ format: 'date' }),
    fees: Type.Object({
      rail: oneOf(railNames, 'Rail'),
      items: Type.Array(
        Type.Object({
          method: Type.String(),
          bps: Type.Integer(),
          fixed_minor: Type.Optional(Type.Integer()),
        }),
      ),
    }),
    min_amount_minor: Type.Integer(),
    display: Type.String(),
  }),
);

export const TopupView = named(
  'TopUp',
  Type.Object({
    id: idOf('topup'),
    org_id: idOf('org'),
    gateway: oneOf(railNames, 'Rail'),
    gateway_ref: nullable(Type.String()),
    payment_ref: nullable(Type.String()),
    currency: Type.String(),
    amount_minor: Type.Integer(),
    tax_minor: Type.Integer(),
    total_minor: Type.Integer(),
    fee_minor: nullable(Type.Integer({ description: 'what the rail took; borne by the service' })),
    fx_rate: Type.String({ description: 'decimal with 8 places' }),
    credits_micro: Type.Integer(),
    method: nullable(Type.String()),
    status: oneOf(topupStatuses, 'TopUpStatus'),
    invoice_id: nullable(idOf('invoice')),
    invoice_number: nullable(
      Type.String({ description: 'what people call its document: `INV/26-27/00001`' }),
    ),
    source: oneOf(['checkout', 'auto', 'staff']),
    refunded_minor: Type.Integer(),
    refunded_credits_micro: Type.Integer(),
    disputed: Type.Boolean({ description: 'a dispute of its payment is open, or was lost' }),
    dispute: nullable(DisputeView),
    failure_code: Type.String({ description: 'empty when nothing failed' }),
    failure_message: Type.String(),
    mandate_id: nullable(idOf('mandate')),
    created_at: Time,
    expires_at: Time,
    paid_at: nullable(Time),
    checkout_url: Type.Optional(Type.String({ description: 'where it is paid, while it is pending' })),
  }),
);
export type TopupView = Static<typeof TopupView>;

export const CreatedView = named(
  'TopUpCreated',
  Type.Object({
    topup: TopupView,
    checkout_url: Type.String(),
    quote: QuoteView,
  }),
);

/**
 * A top-up as the API shows it; `checkout_url` as its people open it, where it can still be paid, `dispute` the newest one
 * of its payment.
 */
export function viewTopup(
  topup: Topup,
  { checkout_url = null, dispute = null }: { checkout_url?: string | null; dispute?: Dispute | null } = {},
): TopupView {
  return {
    id: topup.id,
    org_id: topup.org_id,
    gateway: topup.gateway,
    gateway_ref: topup.gateway_ref,
    payment_ref: topup.payment_ref,
    currency: topup.currency,
    amount_minor: topup.amount_minor,
    tax_minor: topup.tax_minor,
    total_minor: topup.total_minor,
    fee_minor: topup.fee_minor,
    fx_rate: topup.fx_rate,
    credits_micro: topup.credits_micro,
    method: topup.method,
    status: topup.status,
    invoice_id: topup.invoice_id,
    invoice_number: topup.invoice_number,
    source: topup.source,
    refunded_minor: topup.refunded_minor,
    refunded_credits_micro: topup.refunded_credits_micro,
    disputed: topup.disputed,
    dispute: dispute === null ? null : viewDispute(dispute),
    failure_code: topup.failure_code ?? '',
    failure_message: topup.failure_message ?? '',
    mandate_id: topup.mandate_id,
    created_at: topup.created_at.toISOString(),
    expires_at: topup.expires_at.toISOString(),
    paid_at: topup.paid_at?.toISOString() ?? null,
    ...(topup.status === 'pending' && checkout_url !== null ? { checkout_url } : {}),
  };
}
